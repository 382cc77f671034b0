package dev.hongbao.draw;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Returns held costs without a decision, left by a server that died before the script, or by a script without an answer. The owner calls
 * {@code return.lua}, which returns the cost through the journal unless the attempt is decided. So a hold ends exactly once, as a play or
 * as a return. Also removes old decided attempts from Redis.
 */
final class HoldExpiry implements OwnerTask {
    private static final Logger LOG = LoggerFactory.getLogger(HoldExpiry.class);

    private static final int PAGE = 256;
    private static final long EVERY_NANOS = 500_000_000;
    private static final long SAMPLE_NANOS = 10_000_000_000L;
    private static final long REMEMBERED_NANOS = 60_000_000_000L;

    /** The shards take turns: a shard that does not settle keeps its holds, which must leave room for the others. */
    static final String HELD_TOO_LONG = """
        select t.id, t.draw, t.attempt, t.user_id, d.shard
        from play_request as t cross join lateral (select id, shard from draw where id = t.draw limit 1) as d
        where t.status = 'held' and t.held_at < now() - $2::bigint * interval '1 millisecond'
          and d.shard = any ($1) and not exists (select from quarantine_unit as q where q.id = d.id)
        order by row_number() over (partition by d.shard order by t.held_at) limit $3
        """;

    private final Pool pool;
    private final Shards shards;
    private final Loop loop;
    private final ShardScript script;
    private final Clock clock;
    private final Duration heldLong;
    private final Map<Integer, Deque<Sample>> samples = new HashMap<>();
    private long ranNanos;
    private long sampledNanos;

    /** @param heldLong the age from which a hold is resolved */
    public HoldExpiry(Pool pool, Shards shards, Loop loop, Clock clock, Duration heldLong) {
        this.pool = pool;
        this.shards = shards;
        this.loop = loop;
        this.script = new ShardScript(loop, shards);
        this.clock = clock;
        this.heldLong = heldLong;
        this.ranNanos = loop.nanos() - EVERY_NANOS;
        this.sampledNanos = loop.nanos() - SAMPLE_NANOS;
    }

    /** A shard's settled position at a moment. */
    private record Sample(Generation generation, long seq, long atNanos) {}

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        long now = loop.nanos();
        if (live.isEmpty() || now - ranNanos < EVERY_NANOS) {
            return Future.succeededFuture();
        }
        ranNanos = now;
        Short[] mine = Rows.shorts(live);
        // Read before Postgres. A later generation does not know this one's decisions, so it must not get these calls.
        Map<Integer, Shards.Shard> current = new HashMap<>();
        live.forEach(shard -> current.put(shard, shards.current(shard)));
        return pool.preparedQuery(HELD_TOO_LONG)
                .execute(Tuple.tuple()
                        .addArrayOfShort(mine)
                        .addLong(heldLong.toMillis())
                        .addInteger(PAGE))
                .compose(rows -> {
                    List<Future<Void>> calls = new ArrayList<>();
                    rows.stream()
                            .collect(Collectors.groupingBy(row -> row.getInteger("shard")))
                            .forEach((shard, held) ->
                                    calls.add(giveBack(redis, Objects.requireNonNull(current.get(shard)), held, -1)));
                    return Future.join(calls).mapEmpty();
                })
                .compose(done ->
                        now - sampledNanos < SAMPLE_NANOS ? Future.succeededFuture() : forgetOld(mine, redis, now));
    }

    /**
     * The call of {@code return.lua}. Returns the number of costs that it returns.
     *
     * @param forgetUpTo the last journal entry whose attempts are removed; -1 for none
     */
    private static ShardScript.Call<Integer> returnCall(List<Row> held, long forgetUpTo, long nowMillis) {
        return new ShardScript.Call<>(
                "return",
                1,
                (generation, request) -> {
                    request.arg(DrawKeys.attempts(generation)).arg(nowMillis).arg(forgetUpTo);
                    for (Row row : held) {
                        request.arg(row.getUUID("draw").toString())
                                .arg(row.getUUID("id").toString())
                                .arg(row.getUUID("attempt").toString())
                                .arg(UserId.toRedis(row.getString("user_id")));
                    }
                },
                (generation, reply) -> {
                    List<DecidedPlayRequest> returned = DecidedPlayRequest.decodeAll(reply.get(2));
                    return new ShardScript.Reply<>(returned.size(), returned, List.of());
                });
    }

    private Future<Void> giveBack(RedisLinks redis, Shards.Shard shard, List<Row> held, long forgetUpTo) {
        return script.call(shard.generation().link(redis), shard, returnCall(held, forgetUpTo, clock.millis()))
                .<Void>map(returned -> {
                    if (returned > 0) {
                        LOG.info("{} costs in {} were held and never decided: returned", returned, shard.generation());
                    }
                    return null;
                })
                .recover(ShardScript::unlessReported);
    }

    /** Removes attempts of entries settled a minute ago. No server retries them without reading Postgres first. */
    private Future<Void> forgetOld(Short[] mine, RedisLinks redis, long now) {
        sampledNanos = now;
        return pool.preparedQuery("select id, epoch, nonce, last_seq from shard where id = any ($1)")
                .execute(Tuple.tuple().addArrayOfShort(mine))
                .compose(rows -> {
                    List<Future<Void>> calls = new ArrayList<>();
                    for (Row row : rows) {
                        int shard = row.getInteger("id");
                        Generation generation =
                                new Generation(shards.namespace(), shard, row.getLong("epoch"), row.getString("nonce"));
                        Deque<Sample> known = samples.computeIfAbsent(shard, id -> new ArrayDeque<>());
                        known.removeIf(sample -> !sample.generation.equals(generation));
                        known.add(new Sample(generation, row.getLong("last_seq"), now));
                        long forget = -1;
                        for (Sample first = known.peek();
                                first != null && now - first.atNanos >= REMEMBERED_NANOS;
                                first = known.peek()) {
                            forget = first.seq;
                            known.remove();
                        }
                        Shards.Shard current = shards.current(shard);
                        if (forget >= 0 && current.generation().equals(generation)) {
                            calls.add(giveBack(redis, current, List.of(), forget));
                        }
                    }
                    return Future.join(calls).mapEmpty();
                });
    }
}
