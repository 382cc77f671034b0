package dev.hongbao.domain.restriction;

import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.restriction.Restriction.Kind;
import dev.hongbao.domain.restriction.Restriction.Scope;
import dev.hongbao.domain.restriction.Restriction.Target;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.Locale;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The history of restrictions in Postgres. Thread-safe. */
final class RestrictionStore {
    private static final String COLUMNS = "select r.n, r.scope, r.subject, r.kind, r.placed, r.actor, r.reason, r.at,"
            + " r.placed and not exists (select from restriction as l where l.scope = r.scope and l.subject = r.subject"
            + " and l.kind = r.kind and l.n > r.n) as in_force from restriction as r";

    private static final String PAGE = "select * from (" + COLUMNS
            + " where r.n < $1 and ($4::text is null or r.scope = $4) and ($5::text is null or r.kind = $5) order by r.n desc) as r"
            + " where $2 or r.in_force order by r.n desc limit $3";

    private final Pool pool;

    RestrictionStore(Pool pool) {
        this.pool = pool;
    }

    Future<Void> place(Target target, UserId actor, String reason) {
        return change(target, true, actor, reason);
    }

    Future<Void> lift(Target target, UserId actor, String reason) {
        return change(target, false, actor, reason);
    }

    private Future<Void> change(Target target, boolean place, UserId actor, String reason) {
        return pool.preparedQuery("select change_restriction($1, $2, $3, $4, $5, $6)")
                .execute(Tuple.of(
                        target.scope().wireName(),
                        target.subject(),
                        target.kind().wireName(),
                        place,
                        actor.value(),
                        reason))
                .mapEmpty();
    }

    /** A user's restrictions in force, at most one of each kind. */
    Future<List<Restriction>> of(UserId user) {
        return pool.preparedQuery("select * from (" + COLUMNS + " where r.scope = 'user' and r.subject = $1) as r"
                        + " where r.in_force order by r.n")
                .execute(Tuple.of(user.value()))
                .map(RestrictionStore::restrictions);
    }

    /**
     * A page, latest change first.
     *
     * @param all true to include lifted restrictions and their lifting; false for restrictions in force
     * @param scope null for users and groups
     * @param kind null for every kind
     * @param cursor a page's {@code next}; null for the first page
     */
    Future<Page<Restriction>> page(
            boolean all, @Nullable Scope scope, @Nullable Kind kind, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return pool.preparedQuery(PAGE)
                .execute(Tuple.of(
                        before,
                        all,
                        limit + 1,
                        scope == null ? null : scope.wireName(),
                        kind == null ? null : kind.wireName()))
                .map(rows -> Page.of(restrictions(rows), limit, last -> Long.toString(last.n())));
    }

    private static List<Restriction> restrictions(RowSet<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false)
                .map(row -> new Restriction(
                        row.getLong("n"),
                        target(row),
                        row.getBoolean("placed"),
                        new Restriction.Change(
                                row.getString("actor"),
                                row.getString("reason"),
                                row.getOffsetDateTime("at").toInstant()),
                        row.getBoolean("in_force")))
                .toList();
    }

    static Target target(Row row) {
        return new Target(
                Scope.valueOf(row.getString("scope").toUpperCase(Locale.ROOT)),
                row.getString("subject"),
                Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)));
    }
}
