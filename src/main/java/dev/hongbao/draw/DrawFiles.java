package dev.hongbao.draw;

import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Draws and plays of all users, for the host's backend. Reads Postgres. Thread-safe. */
final class DrawFiles {
    /** The columns of {@link DrawBodies#draws}. */
    private static final String DRAWS = """
        select d.id, d.definition ->> 'name' as name, d.definition -> 'metadata' as metadata, d.owner, d.group_id, d.mode,
               d.created_at, d.opens_at, d.closes_at,
               case when d.closed_at is not null then 'closed'
                    when d.closes_at <= now() then 'closing'
                    when not is_open_at(d.opens_at, d.created_at, now()) then 'planned'
                    else 'open' end as status
        from draw as d
        """;

    private static final String ALL = DRAWS + "where d.id < $1 order by d.id desc limit $2";

    private static final String CLOSED =
            DRAWS + "where d.closed_at is not null and d.id < $1 order by d.id desc limit $2";

    /** Reads the draws that are not closed, shard by shard. */
    private static final String OPEN = DRAWS + """
        where d.id = any (array(
            select o.id
            from shard as s
            cross join lateral (select d.id from draw as d
                                where d.shard = s.id and d.closed_at is null and d.id < $1 and %s
                                order by d.id desc limit $2) as o
            order by o.id desc limit $2))
        order by d.id desc
        """;

    private static final String PLAYED = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        where y.user_id = $1 and (y.draw, y.seq) < ($2, $3) order by y.draw desc, y.seq desc limit $4
        """;

    private static final String ONE = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        where y.draw = $1 and y.seq = $2
        """;

    /** Sorts after every draw's id: the start of a list. */
    private static final UUID LAST = new UUID(-1, -1);

    private final Pool pool;
    private final DrawCatalog catalog;

    public DrawFiles(Pool pool, DrawCatalog catalog) {
        this.pool = pool;
        this.catalog = catalog;
    }

    /**
     * A group's draws, for callers who may follow the group; otherwise as {@link #list}.
     *
     * @return refused with NOT_ELIGIBLE
     */
    public Future<Page<Row>> ofGroup(
            Caller caller, GroupId group, DrawView.@Nullable Status status, @Nullable String cursor, int limit) {
        return caller.role() == Role.SERVICE || caller.isMemberOf(group)
                ? list(status, group, null, cursor, limit)
                : Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("group.not-followed"));
    }

    /**
     * Draws, newest first, as rows for {@link DrawBodies#draws}.
     *
     * @param status null for all, as {@code group} and {@code owner}
     * @param owner who made them
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<Row>> list(
            DrawView.@Nullable Status status,
            @Nullable GroupId group,
            @Nullable UserId owner,
            @Nullable String cursor,
            int limit) {
        DrawId before = cursor == null ? new DrawId(LAST) : DrawId.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Tuple parameters = Tuple.of(before.value(), limit + 1);
        return pool.preparedQuery(query(status, group, owner, parameters))
                .execute(parameters)
                .map(rows -> Rows.page(rows, limit));
    }

    /** A query by group or owner reads their index, since each has few draws. */
    private static String query(
            DrawView.@Nullable Status status, @Nullable GroupId group, @Nullable UserId owner, Tuple parameters) {
        if (group != null || owner != null) {
            String which = "";
            if (group != null) {
                parameters.addString(group.value());
                which += " and d.group_id = $" + parameters.size();
            }
            if (owner != null) {
                parameters.addString(owner.value());
                which += " and d.owner = $" + parameters.size();
            }
            String some = DRAWS + "where d.id < $1" + which;
            if (status == null) {
                return some + " order by d.id desc limit $2";
            }
            parameters.addString(status.wireName());
            return "select * from (" + some + " order by d.id desc offset 0) as d where d.status = $"
                    + parameters.size() + " order by d.id desc limit $2";
        }
        if (status == null) {
            return ALL;
        }
        return switch (status) {
            case PLANNED -> OPEN.formatted("not is_open_at(d.opens_at, d.created_at, now()) and d.closes_at > now()");
            case OPEN -> OPEN.formatted("is_open_at(d.opens_at, d.created_at, now()) and d.closes_at > now()");
            case CLOSING -> OPEN.formatted("d.closes_at <= now()");
            case CLOSED -> CLOSED;
        };
    }

    /** A user's plays: newest draw first, and latest play first within a draw; otherwise as {@link #list}. */
    public Future<Page<Play>> playsOf(UserId user, @Nullable String cursor, int limit) {
        UUID draw = LAST;
        long seq = Long.MAX_VALUE;
        if (cursor != null) {
            int dot = cursor.indexOf('.');
            DrawId named = dot < 0 ? null : DrawId.parse(cursor.substring(0, dot));
            if (named == null || !cursor.substring(dot + 1).matches("[0-9]{1,18}")) {
                return Future.failedFuture(Page.badCursor());
            }
            draw = named.value();
            seq = Long.parseLong(cursor.substring(dot + 1));
        }
        return pool.preparedQuery(PLAYED)
                .execute(Tuple.of(user.value(), draw, seq, limit + 1))
                .map(rows ->
                        Page.of(rows.stream().toList(), limit, row -> row.getUUID("draw") + "." + row.getLong("seq")))
                .compose(page -> plays(page.items()).map(plays -> new Page<>(plays, page.next())));
    }

    /** A settled play; refused with NOT_FOUND. */
    public Future<Play> play(DrawId draw, long seq) {
        return pool.preparedQuery(ONE)
                .execute(Tuple.of(draw.value(), seq))
                .compose(rows -> plays(rows.stream().toList()))
                .compose(plays -> plays.isEmpty()
                        ? Refusal.NOT_FOUND.failure(Text.of("play.not-found"))
                        : Future.succeededFuture(plays.get(0)));
    }

    /** Plays with their draws. A draw that cannot be read is set aside, and its plays are absent. */
    private Future<List<Play>> plays(List<Row> rows) {
        List<DrawId> draws = rows.stream()
                .map(row -> new DrawId(row.getUUID("draw")))
                .distinct()
                .toList();
        return catalog.findAll(draws)
                .map(found -> rows.stream().flatMap(row -> play(found, row)).toList());
    }

    private static Stream<Play> play(Map<DrawId, Draw> draws, Row row) {
        Draw draw = draws.get(new DrawId(row.getUUID("draw")));
        return draw == null ? Stream.empty() : Stream.of(DrawStore.play(draw, row));
    }
}
