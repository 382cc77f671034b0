package dev.hongbao.access;

import dev.hongbao.access.Restrictions.Restriction.Kind;
import dev.hongbao.access.Restrictions.Restriction.Scope;
import dev.hongbao.access.Restrictions.Restriction.Target;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.Named;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The restrictions in force and the revoked tokens, in this server's memory. Its own changes show at once, others' within a second. Without
 * Postgres it keeps its last state. Checks never wait. Thread-safe.
 */
public final class Restrictions {
    /** The most restrictions in force. A server holds all of them, about 100 bytes each. */
    private static final int MOST = 1_000_000;

    private static final String CHANGES =
            "select n, scope, subject, kind, placed from restriction where n > $1 order by n limit $2";

    /** Without lifted restrictions, which may be many. One row of nulls beside the number when none is in force. */
    private static final String IN_FORCE = """
        select m.n, l.scope, l.subject, l.kind
        from (select coalesce(max(n), 0) as n from restriction) as m
        left join (select distinct on (scope, subject, kind) scope, subject, kind, placed from restriction
                   order by scope, subject, kind, n desc) as l on l.placed
        """;

    private static final String OF_USER = """
        select r.*, true as in_force from restriction as r
        where r.scope = 'user' and r.subject = $1 and r.placed
          and not exists (select from restriction as l
                          where l.scope = r.scope and l.subject = r.subject and l.kind = r.kind and l.n > r.n)
        order by r.n
        """;

    private static final String PAGE = """
        select *
        from (select r.*, r.placed and not exists (
                  select from restriction as l
                  where l.scope = r.scope and l.subject = r.subject and l.kind = r.kind and l.n > r.n) as in_force
              from restriction as r
              where r.n < $1 and ($4::text is null or r.scope = $4) and ($5::text is null or r.kind = $5)
              order by r.n desc) as r
        where $2 or r.in_force order by r.n desc limit $3
        """;

    private final Pool requests;
    private final History history;
    private final Revocations revocations;
    private volatile Set<Target> inForce = ConcurrentHashMap.newKeySet();

    /**
     * @param pool for the polls
     * @param requests for changes, which may wait for wallets, and for reads of the history
     */
    public Restrictions(Pool pool, Pool requests) {
        this.requests = requests;
        this.history = new History(pool, IN_FORCE, CHANGES, this::begin, this::know);
        this.revocations = new Revocations(pool, requests);
    }

    /** Reads what is in force, then looks for changes four times a second. Once per Vert.x instance. */
    public Future<Void> start(Vertx vertx) {
        return Future.all(history.start(vertx), revocations.start(vertx)).mapEmpty();
    }

    /** Reads all again, for a Postgres that stepped back. */
    public Future<Void> reload() {
        return Future.all(history.reload(), revocations.reload()).mapEmpty();
    }

    /** The revoked tokens, of the same life. */
    Revocations revocations() {
        return revocations;
    }

    public boolean revokes(Caller caller) {
        return revocations.includes(caller);
    }

    private void begin(List<Row> rows) {
        Set<Target> now = ConcurrentHashMap.newKeySet();
        for (Row row : rows) {
            if (row.getString("subject") != null) {
                now.add(target(row));
            }
        }
        inForce = now;
    }

    private void know(Row row) {
        Target target = target(row);
        if (row.getBoolean("placed")) {
            inForce.add(target);
        } else {
            inForce.remove(target);
        }
    }

    private boolean holds(Scope scope, String subject, Kind kind) {
        Set<Target> now = inForce;
        return !now.isEmpty() && now.contains(new Target(scope, subject, kind));
    }

    private boolean isBlocked(GroupId group) {
        return holds(Scope.GROUP, group.value(), Kind.BLOCKED);
    }

    /** Whether all calls of the caller are refused. The host's backend is not a user, and is never blocked. */
    public boolean isBlocked(Caller caller) {
        return caller.role() != Role.SERVICE && holds(Scope.USER, caller.user().value(), Kind.BLOCKED);
    }

    /** The refusal of a user's actions; null when the user may act. */
    public @Nullable RefusedException ofUser(UserId user) {
        if (holds(Scope.USER, user.value(), Kind.FROZEN)) {
            return new RefusedException(Refusal.FROZEN, Text.of("wallet.frozen"));
        }
        return holds(Scope.USER, user.value(), Kind.BLOCKED)
                ? new RefusedException(Refusal.BLOCKED, Reason.USER, Text.of("restriction.user-blocked"))
                : null;
    }

    private static RefusedException ofGroup() {
        return new RefusedException(Refusal.BLOCKED, Reason.GROUP, Text.of("restriction.group-blocked"));
    }

    /**
     * The refusal of a user's plays; null for none.
     *
     * @param group the draw's; null for a draw for all
     */
    public @Nullable RefusedException ofPlay(UserId user, @Nullable GroupId group) {
        RefusedException ofUser = ofUser(user);
        return ofUser == null && group != null && isBlocked(group) ? ofGroup() : ofUser;
    }

    /**
     * The refusal of a caller's claim; null for none.
     *
     * @param group the packet's
     * @param members the audience, for a rain's drop; null for another packet
     */
    public @Nullable RefusedException ofClaim(Caller caller, GroupId group, @Nullable Members members) {
        if (inForce.isEmpty()) {
            return null;
        }
        RefusedException ofUser = ofUser(caller.user());
        if (ofUser != null) {
            return ofUser;
        }
        boolean everyWayIsBlocked = isBlocked(group)
                || members != null
                        && !members.everyone()
                        && members.groups().stream().filter(caller::isMemberOf).allMatch(this::isBlocked)
                        && members.groups().stream().anyMatch(caller::isMemberOf);
        return everyWayIsBlocked ? ofGroup() : null;
    }

    /** Fails with BLOCKED if one of the groups is blocked. */
    public Future<Void> requireOpen(Collection<GroupId> groups) {
        return groups.stream().anyMatch(this::isBlocked) ? Future.failedFuture(ofGroup()) : Future.succeededFuture();
    }

    /**
     * Places a restriction. Idempotent: an existing one keeps its first reason.
     *
     * @param actor the caller
     * @param reason 1 to 200 characters
     */
    public Future<Void> place(Target target, UserId actor, String reason) {
        if (inForce.size() >= MOST) {
            return Refusal.INVALID.failure(Reason.FULL, Text.of("restriction.too-many", MOST));
        }
        return change(target, true, actor, reason);
    }

    /** Lifts a restriction; otherwise as {@link #place}. */
    public Future<Void> lift(Target target, UserId actor, String reason) {
        return change(target, false, actor, reason);
    }

    /** Adopts all changes in the order of the history, so this server ends with the same last change as others. */
    private Future<Void> change(Target target, boolean place, UserId actor, String reason) {
        return requests.preparedQuery("select change_restriction($1, $2, $3, $4, $5, $6)")
                .execute(Tuple.of(
                        target.scope().wireName(),
                        target.subject(),
                        target.kind().wireName(),
                        place,
                        actor.value(),
                        reason))
                .compose(done -> history.catchUp());
    }

    /** A user's restrictions in force, at most one of each kind. */
    public Future<List<Restriction>> of(UserId user) {
        return requests.preparedQuery(OF_USER).execute(Tuple.of(user.value())).map(Restrictions::restrictions);
    }

    /**
     * A page, latest change first.
     *
     * @param all true to include lifted restrictions and their lifting; false for restrictions in force
     * @param scope null for users and groups
     * @param kind null for every kind
     * @param cursor a page's {@code next}; null for the first page
     */
    public Future<Page<Restriction>> page(
            boolean all, @Nullable Scope scope, @Nullable Kind kind, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return requests.preparedQuery(PAGE)
                .execute(Tuple.of(
                        before,
                        all,
                        limit + 1,
                        scope == null ? null : scope.wireName(),
                        kind == null ? null : kind.wireName()))
                .map(rows -> Page.of(restrictions(rows), limit, last -> Long.toString(last.n())));
    }

    private static List<Restriction> restrictions(RowSet<Row> rows) {
        return Rows.list(
                rows,
                row -> new Restriction(
                        row.getLong("n"),
                        target(row),
                        row.getBoolean("placed"),
                        row.getString("actor"),
                        row.getString("reason"),
                        Rows.instant(row, "at"),
                        row.getBoolean("in_force")));
    }

    private static Target target(Row row) {
        return new Target(
                Scope.valueOf(row.getString("scope").toUpperCase(Locale.ROOT)),
                row.getString("subject"),
                Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)));
    }

    /**
     * A change: a restriction was placed or lifted.
     *
     * @param n grows with every change
     * @param placed false when it was lifted
     * @param actor the caller
     * @param reason 1 to 200 characters
     * @param inForce whether it was placed, and not lifted since
     */
    public record Restriction(
            long n, Target target, boolean placed, String actor, String reason, Instant at, boolean inForce) {
        public enum Kind implements Named {
            /** Forbids a user's sends, claims, plays, pools and withdrawals. Deposits and refunds arrive. */
            FROZEN,
            /** Forbids all of a user's calls, or sends, pools, claims and plays in a group. */
            BLOCKED
        }

        public enum Scope implements Named {
            USER,
            GROUP
        }

        /**
         * The subject and the kind.
         *
         * @param subject a user's or a group's id
         */
        public record Target(Scope scope, String subject, Kind kind) {}
    }
}
