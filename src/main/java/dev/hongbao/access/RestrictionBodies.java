package dev.hongbao.access;

import dev.hongbao.access.Restriction.Kind;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Restrictions as the contract's JSON. */
final class RestrictionBodies {
    private static final int LENGTH = 256;

    private RestrictionBodies() {}

    /** A user's state. @param inForce at most one of each kind @param revoked null if no token of the user is revoked */
    public static String user(UserId user, List<Restriction> inForce, Revocations.@Nullable Revocation revoked) {
        JsonText json = new JsonText(2 * LENGTH).beginObject().plain("user", user.value());
        for (Kind kind : Kind.values()) {
            json.name(kind.wireName());
            Restriction found = inForce.stream()
                    .filter(each -> each.target().kind() == kind)
                    .findFirst()
                    .orElse(null);
            if (found == null) {
                json.raw("null");
            } else {
                json.beginObject()
                        .plain("since", found.at().toString())
                        .field("reason", found.reason())
                        .plain("by", found.actor())
                        .endObject();
            }
        }
        json.name("revoked");
        if (revoked == null) {
            json.raw("null");
        } else {
            revocation(json, revoked);
        }
        return json.endObject().toString();
    }

    /** A body's request to revoke tokens. @param before null: tokens issued until now @param reason null for none */
    public record Revoking(
            @Nullable Instant before, @Nullable String reason) {}

    /** @param body fits the contract's {@code Revoke}; null for none */
    public static Revoking revoking(@Nullable JsonObject body) {
        if (body == null) {
            return new Revoking(null, null);
        }
        String before = body.getString("before");
        try {
            return new Revoking(
                    before == null
                            ? null
                            : OffsetDateTime.parse(before).toInstant().truncatedTo(ChronoUnit.MICROS),
                    body.getString("reason"));
        } catch (DateTimeException unreadable) {
            throw InvalidInputException.of("#/before", Text.of("time.malformed-short"));
        }
    }

    public static String revocation(Revocations.Revocation done) {
        return revocation(new JsonText(LENGTH), done).toString();
    }

    private static JsonText revocation(JsonText json, Revocations.Revocation done) {
        return json.beginObject()
                .plain("user", done.user().value())
                .plain("notBefore", done.notBefore().toString())
                .field("reason", done.reason())
                .plain("by", done.by())
                .plain("at", done.at().toString())
                .endObject();
    }

    public static String group(GroupId group, boolean blocked) {
        return new JsonText(LENGTH)
                .beginObject()
                .plain("group", group.value())
                .field("blocked", blocked)
                .endObject()
                .toString();
    }

    public static String restrictions(Page<Restriction> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        for (Restriction each : page.items()) {
            json.beginObject()
                    .plain("of", each.target().scope().wireName())
                    .plain("id", each.target().subject())
                    .plain("kind", each.target().kind().wireName())
                    .plain("change", each.placed() ? "placed" : "lifted")
                    .field("inForce", each.inForce())
                    .field("reason", each.reason())
                    .plain("by", each.actor())
                    .plain("at", each.at().toString())
                    .endObject();
        }
        return json.endArray().field("next", page.next()).endObject().toString();
    }
}
