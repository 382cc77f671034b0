package dev.hongbao.access;

import dev.hongbao.access.Restriction.Kind;
import dev.hongbao.access.Restriction.Scope;
import dev.hongbao.access.Restriction.Target;
import dev.hongbao.http.Call;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.Map;

/** The calls that freeze wallets, block users and revoke tokens. Confined to its event loop. */
public final class RestrictionRoutes {
    private final Restrictions restrictions;
    private final Revocations revocations;

    public RestrictionRoutes(Restrictions restrictions, Revocations revocations) {
        this.restrictions = restrictions;
        this.revocations = revocations;
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

    private static Reply state(GroupId group, boolean isBlocked) {
        return Reply.json(200, RestrictionBodies.group(group, isBlocked));
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
                .map(page -> Reply.json(200, RestrictionBodies.restrictions(page)));
    }
}
