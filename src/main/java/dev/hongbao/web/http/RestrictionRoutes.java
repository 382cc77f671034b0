package dev.hongbao.web.http;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.restriction.Restriction.Kind;
import dev.hongbao.domain.restriction.Restriction.Scope;
import dev.hongbao.domain.restriction.Restriction.Target;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.domain.restriction.Revocations;
import dev.hongbao.web.api.RestrictionBodies;
import io.vertx.core.Future;
import java.util.Map;

/** The calls that freeze and block, and revoke tokens. Confined to its event loop. */
final class RestrictionRoutes {
    private final Restrictions restrictions;
    private final Revocations revocations;

    RestrictionRoutes(HostServices.Money money) {
        this.restrictions = money.restrictions();
        this.revocations = money.revocations();
    }

    /** By {@code operationId}. */
    Map<String, Route> byOperation() {
        return Map.of(
                "revokeTokens",
                this::revoke,
                "getUser",
                call -> state(call.user()),
                "freezeUser",
                call -> user(call, Kind.FROZEN, true),
                "unfreezeUser",
                call -> user(call, Kind.FROZEN, false),
                "blockUser",
                call -> user(call, Kind.BLOCKED, true),
                "unblockUser",
                call -> user(call, Kind.BLOCKED, false),
                "blockGroup",
                call -> group(call, true),
                "unblockGroup",
                call -> group(call, false),
                "listRestrictions",
                this::list);
    }

    private Future<Reply> state(UserId user) {
        return restrictions
                .of(user)
                .compose(inForce -> revocations
                        .of(user)
                        .map(revoked -> Reply.json(200, RestrictionBodies.user(user, inForce, revoked))));
    }

    private Future<Reply> revoke(Call call) {
        RestrictionBodies.Revoking asked = RestrictionBodies.revoking(call.json());
        return revocations
                .revoke(call.user(), asked.before(), call.caller().user(), call.requiredKey(), asked.reason())
                .map(done -> Reply.json(200, RestrictionBodies.revocation(done)));
    }

    private Future<Reply> user(Call call, Kind kind, boolean place) {
        return change(call, new Target(Scope.USER, call.user().value(), kind), place)
                .compose(done -> state(call.user()));
    }

    private Future<Reply> group(Call call, boolean place) {
        GroupId group = call.group();
        return change(call, new Target(Scope.GROUP, group.value(), Kind.BLOCKED), place)
                .map(done -> Reply.json(200, RestrictionBodies.group(group, place)));
    }

    private Future<Void> change(Call call, Target target, boolean place) {
        return restrictions.change(
                target, place, call.caller().user(), call.requiredBody().getString("reason"));
    }

    private Future<Reply> list(Call call) {
        return restrictions
                .page("all".equals(call.query().get("show")), call.cursor(), call.limit())
                .map(page -> Reply.json(200, RestrictionBodies.restrictions(page)));
    }
}
