package dev.hongbao.access;

import dev.hongbao.access.Restrictions.Restriction;
import dev.hongbao.access.Restrictions.Restriction.Kind;
import dev.hongbao.access.Restrictions.Restriction.Scope;
import dev.hongbao.access.Restrictions.Restriction.Target;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Times;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The calls that freeze wallets, block users and revoke tokens. Confined to its event loop. */
final class RestrictionRoutes {
    private static final int LENGTH = 256;

    private final Restrictions restrictions;
    private final Revocations revocations;

    public RestrictionRoutes(Restrictions restrictions) {
        this.restrictions = restrictions;
        this.revocations = restrictions.revocations();
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "revokeTokens",
                this::revoke,
                "getUser",
                call -> state(call.user()),
                "freezeUser",
                call -> place(call, user(call, Kind.FROZEN)).compose(done -> state(call.user())),
                "unfreezeUser",
                call -> lift(call, user(call, Kind.FROZEN)).compose(done -> state(call.user())),
                "blockUser",
                call -> place(call, user(call, Kind.BLOCKED)).compose(done -> state(call.user())),
                "unblockUser",
                call -> lift(call, user(call, Kind.BLOCKED)).compose(done -> state(call.user())),
                "blockGroup",
                call -> place(call, group(call)).map(done -> state(call.group(), true)),
                "unblockGroup",
                call -> lift(call, group(call)).map(done -> state(call.group(), false)),
                "listRestrictions",
                this::list);
    }

    private Future<Reply> state(UserId user) {
        return restrictions
                .of(user)
                .compose(inForce -> revocations.of(user).map(revoked -> Reply.json(200, user(user, inForce, revoked))));
    }

    private Future<Reply> revoke(Call call) {
        JsonObject body = Objects.requireNonNullElseGet(call.json(), JsonObject::new);
        return revocations
                .revoke(call.user(), before(body), call.caller().user(), call.requiredKey(), body.getString("reason"))
                .map(done -> Reply.json(200, revocation(done)));
    }

    private static Reply state(GroupId group, boolean isBlocked) {
        return Reply.json(200, group(group, isBlocked));
    }

    private static Target user(Call call, Kind kind) {
        return new Target(Scope.USER, call.user().value(), kind);
    }

    private static Target group(Call call) {
        return new Target(Scope.GROUP, call.group().value(), Kind.BLOCKED);
    }

    private Future<Void> place(Call call, Target target) {
        return restrictions.place(target, call.caller().user(), reason(call));
    }

    private Future<Void> lift(Call call, Target target) {
        return restrictions.lift(target, call.caller().user(), reason(call));
    }

    private static String reason(Call call) {
        return call.requiredBody().getString("reason");
    }

    private Future<Reply> list(Call call) {
        return restrictions
                .page(
                        "all".equals(call.query().get("show")),
                        call.choice("scope", Scope.class),
                        call.choice("kind", Kind.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, restrictions(page)));
    }

    // --- bodies ---

    /** A user's state. @param inForce at most one of each kind @param revoked null if no token of the user is revoked */
    private static String user(UserId user, List<Restriction> inForce, Revocations.@Nullable Revocation revoked) {
        JsonText json = new JsonText(2 * LENGTH).beginObject().plain("user", user.value());
        for (Kind kind : Kind.values()) {
            Restriction found = inForce.stream()
                    .filter(each -> each.target().kind() == kind)
                    .findFirst()
                    .orElse(null);
            json.object(
                    kind.wireName(),
                    found,
                    (out, restriction) -> out.plain("since", restriction.at().toString())
                            .field("reason", restriction.reason())
                            .plain("by", restriction.actor()));
        }
        json.name("revoked");
        if (revoked == null) {
            json.raw("null");
        } else {
            revocation(json, revoked);
        }
        return json.endObject().toString();
    }

    /** The moment of a body that revokes tokens; null: tokens issued until now. @param body fits the contract's {@code Revoke} */
    private static @Nullable Instant before(JsonObject body) {
        String before = body.getString("before");
        return before == null ? null : Times.read("#/before", before);
    }

    private static String revocation(Revocations.Revocation done) {
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

    private static String group(GroupId group, boolean blocked) {
        return new JsonText(LENGTH)
                .beginObject()
                .plain("group", group.value())
                .field("blocked", blocked)
                .endObject()
                .toString();
    }

    private static String restrictions(Page<Restriction> page) {
        return JsonText.page(
                page,
                LENGTH,
                (json, each) -> json.beginObject()
                        .plain("of", each.target().scope().wireName())
                        .plain("id", each.target().subject())
                        .plain("kind", each.target().kind().wireName())
                        .plain("change", each.placed() ? "placed" : "lifted")
                        .field("inForce", each.inForce())
                        .field("reason", each.reason())
                        .plain("by", each.actor())
                        .plain("at", each.at().toString())
                        .endObject());
    }
}
