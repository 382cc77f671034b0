package dev.hongbao.draw;

import dev.hongbao.draw.DrawService.Exported;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Quarantine.Unreadable;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Draws and plays in Postgres. Thread-safe. */
final class DrawStore {
    private static final String DRAW = """
        select d.id, d.shard, d.owner, d.definition, d.created_at, d.closes_at, d.seed,
               encode(d.commitment, 'hex') as commitment
        from\s""";

    private static final String NEWEST_OPEN = DRAW + """
        draw as d where d.owner = $1 and d.closed_at is null and d.closes_at > now() order by d.id desc limit 1
        """;

    /** The rows of {@link #scheduled}, for an {@link dev.hongbao.engine.Mode.OwnerTask}, too. */
    static final String SCHEDULED = """
        draw as d where d.closed_at is null and d.mode = 'schedule' and d.shard = any ($1)
          and not exists (select from quarantine_unit as q where q.id = d.id)
        order by d.shard, d.id
        """;

    private static final String PLAYS = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        where y.draw = $1 and y.seq < $2 order by y.seq desc limit $3
        """;

    private static final String PLAYS_OF_USER = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        where y.draw = $1 and y.seq < $2 and y.user_id = $4 order by y.seq desc limit $3
        """;

    private static final String EXPORTED = """
        select y.draw, y.seq, y.user_id, y.prize, y.at, c.code, y.request, y.loaded, y.period, y.release
        from play as y left join code as c on c.draw = y.draw and c.prize = y.prize and c.nth = y.nth
        where y.draw = $1 and y.seq >= $2 order by y.seq limit $3
        """;

    private static final String PERIODS = """
        select p.n, array(select count(r.n)::integer from generate_series(1, $2) as z(n)
                          left join release as r on r.draw = p.draw and r.period = p.n and r.prize = z.n
                          group by z.n order by z.n) as planned
        from period as p where p.draw = $1 and p.n >= $3::bigint order by p.n limit $4
        """;

    /** A count of a user's plays stops here. */
    private static final int MAX_COUNTED = 10_000;

    private final Pool pool;
    private final @Nullable Unreadable unreadable;
    private final SharedQueries<DrawId, @Nullable End> ends = new SharedQueries<>();

    /** For use outside a server. Draws with an unreadable definition are absent, and not reported. */
    public DrawStore(Pool pool) {
        this(pool, null);
    }

    /**
     * For a server. Draws with an unreadable definition are absent from every answer.
     *
     * @param unreadable receives each such draw; null when another store reports them
     */
    public DrawStore(Pool pool, @Nullable Unreadable unreadable) {
        this.pool = pool;
        this.unreadable = unreadable;
    }

    /**
     * The settled progress of a prize.
     *
     * @param stock null for no limit
     */
    public record Progress(int number, @Nullable Long stock, long issued) {}

    /**
     * The end of a draw.
     *
     * @param closesAt the definition's, or an earlier one if the draw was ended early
     * @param closedAt null while it is open
     */
    public record End(Instant closesAt, @Nullable Instant closedAt) {}

    /** The draws. Unknown draws are absent. */
    Future<List<Draw>> find(Collection<DrawId> ids) {
        return pool.preparedQuery(DRAW + "draw as d where d.id = any ($1)")
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(DrawId::value).toArray(UUID[]::new)))
                .compose(this::readable);
    }

    Future<@Nullable Draw> newestOpen(UserId owner) {
        return pool.preparedQuery(NEWEST_OPEN)
                .execute(Tuple.of(owner.value()))
                .compose(this::readable)
                .map(draws -> draws.isEmpty() ? null : draws.get(0));
    }

    /** Open scheduled draws of these shards, with their shards. Without definitions, which may be long. */
    Future<Map<DrawId, Integer>> scheduled(Collection<Integer> shards) {
        return pool.preparedQuery("select d.id, d.shard from " + SCHEDULED)
                .execute(Tuple.tuple().addArrayOfShort(Rows.shorts(shards)))
                .map(rows -> {
                    Map<DrawId, Integer> draws = new LinkedHashMap<>();
                    rows.forEach(row -> draws.put(new DrawId(row.getUUID("id")), row.getInteger("shard")));
                    return draws;
                });
    }

    /** The current end of a draw; null for an unknown one. */
    public Future<@Nullable End> end(DrawId id) {
        return pool.preparedQuery("select closes_at, closed_at from draw where id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> rows.stream()
                        .map(row -> new End(Rows.instant(row, "closes_at"), Rows.instantOrNull(row, "closed_at")))
                        .findFirst()
                        .orElse(null));
    }

    /** As {@link #end}, with one query for all that ask at the same time: it may have begun before the call. */
    Future<@Nullable End> sharedEnd(DrawId id) {
        return ends.ask(id, () -> end(id));
    }

    /** The stored final table, and the quotas that differ from the definition. */
    Future<DrawView.Books> books(Draw draw) {
        String definition = Seed.definitionText(draw.definition());
        Future<JsonObject> table = pool.preparedQuery("select final_table from draw where id = $1")
                .execute(Tuple.of(draw.id().value()))
                .map(rows -> rows.iterator().next().getJsonObject(0));
        Future<List<DrawView.Quota>> quotas = pool.preparedQuery(
                        "select prize, period, quota from quota where draw = $1 order by period, prize")
                .execute(Tuple.of(draw.id().value()))
                .map(rows -> rows.stream()
                        .map(row -> new DrawView.Quota(
                                row.getInteger("prize"), row.getInteger("period"), row.getLong("quota")))
                        .toList());
        return Future.all(table, quotas).map(read -> new DrawView.Books(table.result(), definition, quotas.result()));
    }

    /** The settled progress of each prize, by number. */
    Future<List<Progress>> progress(DrawId id) {
        return pool.preparedQuery("select n, stock, issued from prize where draw = $1 order by n")
                .execute(Tuple.of(id.value()))
                .map(rows -> rows.stream()
                        .map(row -> new Progress(row.getInteger("n"), row.getLong("stock"), row.getLong("issued")))
                        .toList());
    }

    /** A user's counters in the script's form; null when there are none. */
    Future<Long @Nullable []> counters(DrawId id, UserId user) {
        return pool.preparedQuery("select counters from player where draw = $1 and user_id = $2")
                .execute(Tuple.of(id.value(), user.value()))
                .map(rows -> rows.stream()
                        .map(row -> row.getArrayOfLongs(0))
                        .findFirst()
                        .orElse(null));
    }

    /**
     * Plays of a draw before a sequence number, latest first.
     *
     * @param user null for all users
     */
    Future<List<Play>> plays(Draw draw, @Nullable UserId user, long beforeSeq, int limit) {
        Tuple parameters = Tuple.of(draw.id().value(), beforeSeq, limit);
        return pool.preparedQuery(user == null ? PLAYS : PLAYS_OF_USER)
                .execute(user == null ? parameters : parameters.addString(user.value()))
                .map(rows -> rows.stream().map(row -> play(draw, row)).toList());
    }

    /** Plays of a draw from a sequence number on, earliest first, for exports. */
    Future<List<Exported>> playsFrom(Draw draw, long fromSeq, int limit) {
        return pool.preparedQuery(EXPORTED)
                .execute(Tuple.of(draw.id().value(), fromSeq, limit))
                .map(rows -> rows.stream()
                        .<Exported>map(row -> new Exported.Played(
                                play(draw, row),
                                row.getUUID("request"),
                                row.getInteger("loaded"),
                                row.getInteger("period"),
                                row.getInteger("release")))
                        .toList());
    }

    /** Planned periods of a draw from a number on, for exports. */
    Future<List<Exported>> periodsFrom(Draw draw, long from, int limit) {
        int prizes = draw.definition().prizes().size();
        return pool.preparedQuery(PERIODS)
                .execute(Tuple.of(draw.id().value(), prizes, from, limit))
                .map(rows -> rows.stream()
                        .<Exported>map(row -> new Exported.Period(
                                draw.id(), row.getInteger("n"), List.of(row.getArrayOfIntegers("planned"))))
                        .toList());
    }

    /** Ends an open draw now, also before its opening. */
    Future<Void> endNow(DrawId id) {
        return pool.preparedQuery(
                        "update draw set closes_at = now() where id = $1 and closed_at is null and closes_at > now()")
                .execute(Tuple.of(id.value()))
                .mapEmpty();
    }

    /** Postgres' clock. */
    Future<Instant> now() {
        return pool.query("select now()")
                .execute()
                .map(rows -> Rows.instant(rows.iterator().next(), "now"));
    }

    /**
     * Locks the draw's quotas until the transaction ends. Planning a period and changing a quota exclude each other. Unlike a lock of the
     * draw's row, this does not delay plays.
     */
    static Future<Void> lockQuotas(SqlClient tx, DrawId id) {
        return tx.preparedQuery("select pg_advisory_xact_lock(hashtextextended('quotas ' || $1, 0))::text")
                .execute(Tuple.of(id.toString()))
                .mapEmpty();
    }

    public static Play play(Draw draw, Row row) {
        int number = row.getInteger("prize");
        return new Play(
                draw.id(),
                row.getLong("seq"),
                new UserId(row.getString("user_id")),
                number,
                draw.prize(number),
                row.getString("code"),
                Rows.instant(row, "at"));
    }

    private Future<List<Draw>> readable(RowSet<Row> rows) {
        List<Draw> draws = new ArrayList<>();
        List<Future<Void>> met = new ArrayList<>();
        for (Row row : rows) {
            try {
                draws.add(draw(row));
            } catch (RuntimeException fault) {
                if (unreadable != null) {
                    met.add(met(unreadable, row, fault));
                }
            }
        }
        return Future.join(met).map(draws);
    }

    /** Reports a draw with an unreadable definition. */
    static Future<Void> met(Unreadable unreadable, Row row, RuntimeException fault) {
        return unreadable.met(
                Draw.unit(new DrawId(row.getUUID("id"))),
                row.getInteger("shard"),
                "its definition cannot be read: " + fault.getMessage());
    }

    private static Draw draw(Row row) {
        return new Draw(
                new DrawId(row.getUUID("id")),
                row.getInteger("shard"),
                new UserId(row.getString("owner")),
                DrawDefinition.readStored(row.getJsonObject("definition").getMap()),
                Rows.instant(row, "created_at"),
                Rows.instant(row, "closes_at"),
                new Seed(row.getBuffer("seed").getBytes()),
                row.getString("commitment"));
    }

    /** The number of a user's settled plays. Counts each, so at most {@link #MAX_COUNTED}. */
    Future<Long> playsOf(DrawId id, UserId user) {
        return pool.preparedQuery(
                        "select count(*) from (select from play where draw = $1 and user_id = $2 limit $3) as y")
                .execute(Tuple.of(id.value(), user.value(), MAX_COUNTED))
                .map(rows -> rows.iterator().next().getLong(0));
    }
}
