package dev.hongbao.draw;

import dev.hongbao.draw.DrawState.Issued;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.DrawRules;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Rewrites a shard's open draws from the settled state, except draws set aside: rules, stocks, rounds, users' counters and untaken
 * releases. The set of decided attempts begins empty: a server reads Postgres before it asks a new generation, and all earlier
 * decisions are settled there.
 */
final class DrawShardLoader implements ShardLoader {
    /** Open draws, with their prizes' settled counts, and their next play and period. */
    static final String OPEN = """
        select d.id, d.shard, d.definition, d.closes_at,
               coalesce((select max(seq) + 1 from play where draw = d.id), 0) as next_seq,
               coalesce((select max(n) from period where draw = d.id), -1) as last_period,
               z.issued, z.round, z.round_issued
        from draw as d
        cross join lateral (select array_agg(issued order by n) as issued, array_agg(round order by n) as round,
                                   array_agg(round_issued order by n) as round_issued
                            from prize where draw = d.id) as z
        where d.shard = $1 and d.closed_at is null
          and not exists (select from quarantine_unit as q where q.id = d.id)
        """;

    private static final String OVER = "select id from draw where id = any ($1) and closed_at is not null";

    static final String PLAYERS = """
        select p.draw, p.user_id, array_to_string(p.counters, ',') as counters
        from draw as d join player as p on p.draw = d.id
        where d.shard = $1 and d.closed_at is null
          and not exists (select from quarantine_unit as q where q.id = d.id)
        order by p.draw
        """;

    static final String NOT_TAKEN = """
        select r.draw, r.period, r.prize, r.n, r.moment
        from draw as d join release as r on r.draw = d.id
        where d.shard = $1 and d.closed_at is null and not r.withdrawn
          and not exists (select from quarantine_unit as q where q.id = d.id)
          and not exists (select from play as y
                          where y.draw = r.draw and y.period = r.period and y.prize = r.prize and y.release = r.n)
        order by r.draw
        """;

    private final Quarantine quarantine;

    /** @param quarantine takes draws with an unreadable definition */
    public DrawShardLoader(Quarantine quarantine) {
        this.quarantine = quarantine;
    }

    @Override
    public Future<Void> load(Pool pool, RedisLink redis, Generation generation) {
        Tuple shard = Tuple.of((short) generation.shard());
        // Draws first, each with its last period. The planner loads later periods, each as a whole and once. A draw
        // that an operator returns meanwhile is not loaded at all: a part of it would be invalid.
        Map<UUID, Integer> lastPeriods = new HashMap<>();
        List<Supplier<Future<Void>>> unreadable = new ArrayList<>();
        return ShardLoader.each(pool, generation, OPEN, shard, rows -> {
                    rows.forEach(row -> lastPeriods.put(row.getUUID("id"), row.getInteger("last_period")));
                    return writeDraws(redis, generation, rows, unreadable);
                })
                .compose(done ->
                        Future.join(unreadable.stream().map(Supplier::get).toList()))
                .compose(done -> ShardLoader.each(
                        pool,
                        generation,
                        PLAYERS,
                        shard,
                        rows -> writePlayers(redis, generation, rows, lastPeriods.keySet())))
                .compose(done -> ShardLoader.each(
                        pool,
                        generation,
                        NOT_TAKEN,
                        shard,
                        rows -> writeReleases(redis, generation, rows, lastPeriods)))
                .compose(done -> redis.send(Request.cmd(Command.ZADD)
                        .arg(DrawKeys.attempts(generation))
                        .arg("+inf")
                        .arg(DrawKeys.MARK)))
                .mapEmpty();
    }

    @Override
    public Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
        return ShardLoader.over(pool, OVER, DrawKeys.hashPrefix(generation), keys)
                .compose(draws -> ShardLoader.over(pool, OVER, DrawKeys.schedulePrefix(generation), keys)
                        .map(schedules -> Stream.concat(draws.stream(), schedules.stream())
                                .toList()));
    }

    private Future<Void> writeDraws(
            RedisLink redis, Generation generation, RowSet<Row> rows, List<Supplier<Future<Void>>> unreadable) {
        List<Future<?>> writes = new ArrayList<>();
        for (Row row : rows) {
            DrawRules rules;
            try {
                rules = DrawDefinition.readStored(
                                row.getJsonObject("definition").getMap())
                        .rules();
            } catch (RuntimeException fault) {
                // Set aside after the page: the query holds a connection of the pool.
                unreadable.add(() -> DrawStore.met(quarantine.forOwners(), row, fault));
                continue;
            }
            DrawId id = new DrawId(row.getUUID("id"));
            if (rules.mode() == DrawDefinition.Mode.SCHEDULE) {
                writes.add(redis.send(Request.cmd(Command.ZADD)
                        .arg(DrawKeys.schedule(generation, id))
                        .arg("-inf")
                        .arg(DrawKeys.MARK)));
            }
            writes.add(redis.send(Request.cmd(Command.HSET)
                    .arg(DrawKeys.hash(generation, id))
                    .arg("#")
                    .arg(row.getLong("next_seq"))
                    .arg("~")
                    .arg(row.getInteger("last_period"))
                    .arg("*")
                    .arg(Buffer.buffer(DrawState.rules(rules)))
                    .arg("=")
                    .arg(Buffer.buffer(DrawState.after(rules, issued(row))))));
        }
        return Future.all(writes).mapEmpty();
    }

    /** The settled wins of a row with each prize's {@code issued}, {@code round} and {@code round_issued}. */
    public static List<Issued> issued(Row row) {
        Long[] issued = row.getArrayOfLongs("issued");
        Long[] rounds = row.getArrayOfLongs("round");
        Long[] inRound = row.getArrayOfLongs("round_issued");
        return Stream.iterate(0, i -> i + 1)
                .limit(issued.length)
                .map(i -> new Issued(issued[i], rounds[i], inRound[i]))
                .toList();
    }

    private static Future<Void> writePlayers(
            RedisLink redis, Generation generation, RowSet<Row> rows, Set<UUID> loaded) {
        List<Future<?>> writes = new ArrayList<>();
        for (Row row : rows) {
            if (!loaded.contains(row.getUUID("draw"))) {
                continue;
            }
            writes.add(redis.send(Request.cmd(Command.HSET)
                    .arg(DrawKeys.hash(generation, new DrawId(row.getUUID("draw"))))
                    .arg(UserId.toRedis(row.getString("user_id")))
                    .arg(row.getString("counters"))));
        }
        return Future.all(writes).mapEmpty();
    }

    private static Future<Void> writeReleases(
            RedisLink redis, Generation generation, RowSet<Row> rows, Map<UUID, Integer> lastPeriods) {
        List<Future<?>> writes = new ArrayList<>();
        for (Row row : rows) {
            if (row.getInteger("period") > lastPeriods.getOrDefault(row.getUUID("draw"), -1)) {
                continue;
            }
            writes.add(redis.send(Request.cmd(Command.ZADD)
                    .arg(DrawKeys.schedule(generation, new DrawId(row.getUUID("draw"))))
                    .arg(Rows.instant(row, "moment").toEpochMilli())
                    .arg(member(row))));
        }
        return Future.all(writes).mapEmpty();
    }

    /** The release's name in the schedule. */
    public static String member(Row row) {
        return member(row.getInteger("period"), row.getInteger("prize"), row.getInteger("n"));
    }

    /**
     * The release's name in the schedule.
     *
     * @param prize its number, from 1
     */
    public static String member(int period, int prize, int release) {
        return new DrawModel.Release(period, prize, release).toString();
    }
}
