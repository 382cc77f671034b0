package dev.hongbao.web.api;

import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.restriction.Restriction;
import dev.hongbao.domain.restriction.Restriction.Kind;
import java.util.List;

/** Restrictions as the contract's JSON. */
public final class RestrictionBodies {
    private static final int LENGTH = 256;

    private RestrictionBodies() {}

    /** A user's state. @param inForce at most one of each kind */
    public static String user(UserId user, List<Restriction> inForce) {
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
                        .plain("since", found.change().at().toString())
                        .field("reason", found.change().reason())
                        .plain("by", found.change().actor())
                        .endObject();
            }
        }
        return json.endObject().toString();
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
                    .field("reason", each.change().reason())
                    .plain("by", each.change().actor())
                    .plain("at", each.change().at().toString())
                    .endObject();
        }
        return json.endArray().field("next", page.next()).endObject().toString();
    }
}
