package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans scheduled draws (article 4). Shortly before each period its quotas leave the stock and are scattered over the period. The period's
 * row in Postgres makes this happen once, with any number of planners and after any crash. The releases then go into Redis, which takes
 * each period once.
 *
 * <p>Confined to the persistence verticle's event loop in a server. Two instances may plan the same draws at the same time.
 */
final class DrawPlanner {
    private static final Logger LOG = LoggerFactory.getLogger(DrawPlanner.class);

    /** A period is planned this long before its start, or half a period if that is shorter. */
    private static final Duration LEAD = Duration.ofMinutes(1);

    /** Periods planned in one call. A draw without plans for days needs several calls. */
    static final int MAX_AT_ONCE = 100;

    private final Pool pool;

    public DrawPlanner(Pool pool) {
        this.pool = pool;
    }

    /**
     * Plans a draw's due periods, at most {@link #MAX_AT_ONCE}. Idempotent.
     *
     * @param goesOn asked after each period; false ends the call
     * @return the number of periods planned by this call
     */
    public Future<Integer> plan(Draw draw, Instant now, BooleanSupplier goesOn) {
        DrawDefinition definition = draw.definition();
        DrawDefinition.Schedule schedule = Objects.requireNonNull(definition.schedule());
        Instant until = now.plus(lead(schedule));
        if (definition.opening().isAfter(until)) {
            return Future.succeededFuture(0);
        }
        long millis = Duration.between(definition.opening(), until).toMillis();
        long last =
                Math.min(definition.periods() - 1L, millis / schedule.period().toMillis());
        return pool.preparedQuery("select coalesce(max(n), -1) from period where draw = $1")
                .execute(Tuple.of(draw.id().value()))
                .compose(rows -> {
                    int next = rows.iterator().next().getInteger(0) + 1;
                    if (!schedule.carryOver()) {
                        // Releases of ended periods could not be taken any more.
                        long sinceOpening =
                                Duration.between(definition.opening(), now).toMillis();
                        next = Math.max(
                                next,
                                Math.toIntExact(sinceOpening / schedule.period().toMillis()));
                    }
                    return planFrom(draw, next, (int) Math.min(last, next + MAX_AT_ONCE - 1L), goesOn, 0);
                });
    }

    private static Duration lead(DrawDefinition.Schedule schedule) {
        Duration half = schedule.period().dividedBy(2);
        return half.compareTo(LEAD) < 0 ? half : LEAD;
    }

    /** The next moment with a period to plan, if all periods due at {@code now} are planned. */
    Instant nextAt(Draw draw, Instant now) {
        DrawDefinition definition = draw.definition();
        DrawDefinition.Schedule schedule = Objects.requireNonNull(definition.schedule());
        Duration lead = lead(schedule);
        long sinceOpening =
                Duration.between(definition.opening(), now.plus(lead)).toMillis();
        long next = sinceOpening < 0 ? 0 : sinceOpening / schedule.period().toMillis() + 1;
        return definition
                .opening()
                .plusMillis(Math.multiplyExact(next, schedule.period().toMillis()))
                .minus(lead);
    }

    private Future<Integer> planFrom(Draw draw, int period, int last, BooleanSupplier goesOn, int before) {
        if (period > last) {
            return Future.succeededFuture(before);
        }
        return plan(draw, period).compose(mine -> {
            int planned = mine ? before + 1 : before;
            return goesOn.getAsBoolean()
                    ? planFrom(draw, period + 1, last, goesOn, planned)
                    : Future.succeededFuture(planned);
        });
    }

    /**
     * Plans one period, unless it or a later one is planned.
     *
     * @return whether this call planned it
     */
    Future<Boolean> plan(Draw draw, int period) {
        DrawDefinition definition = draw.definition();
        Instant from = definition.periodStart(period);
        Instant to = definition.periodStart(period + 1);
        return pool.withTransaction(tx -> DrawStore.lockQuotas(tx, draw.id())
                        .compose(locked -> tx.preparedQuery(
                                        "select prize, quota from quota where draw = $1 and period = $2")
                                .execute(Tuple.of(draw.id().value(), period)))
                        .compose(rows -> {
                            Map<Integer, Long> changed = new HashMap<>();
                            rows.forEach(row -> changed.put(row.getInteger("prize"), row.getLong("quota")));
                            return tx.preparedQuery("select plan_period($1, $2, $3, $4, $5, $6)")
                                    .execute(releases(draw, period, from, to, changed));
                        }))
                .map(rows -> {
                    boolean mine = rows.iterator().next().getBoolean(0);
                    if (mine) {
                        LOG.debug("planned period {} of draw {}", period, draw.id());
                    }
                    return mine;
                });
    }

    private Tuple releases(Draw draw, int period, Instant from, Instant to, Map<Integer, Long> changed) {
        List<Short> prizes = new ArrayList<>();
        List<OffsetDateTime> moments = new ArrayList<>();
        DrawDefinition definition = draw.definition();
        Seed.Numbers chance = draw.seed().chance();
        for (int number = 1; number <= definition.prizes().size(); number++) {
            for (long moment : chance.moments(definition, period, number, changed.get(number))) {
                prizes.add((short) number);
                moments.add(Instant.ofEpochMilli(moment).atOffset(ZoneOffset.UTC));
            }
        }
        return Tuple.tuple()
                .addUUID(draw.id().value())
                .addInteger(period)
                .addOffsetDateTime(from.atOffset(ZoneOffset.UTC))
                .addOffsetDateTime(to.atOffset(ZoneOffset.UTC))
                .addArrayOfShort(prizes.toArray(Short[]::new))
                .addArrayOfOffsetDateTime(moments.toArray(OffsetDateTime[]::new));
    }

    /**
     * The call of {@code period.lua}. Returns whether Redis has the draw.
     *
     * @param releases of the period, in any order
     */
    private static ShardScript.Call<Boolean> loadCall(Draw draw, int period, RowSet<Row> releases) {
        return new ShardScript.Call<>(
                "period",
                2,
                (generation, request) -> {
                    request.arg(DrawKeys.hash(generation, draw.id()))
                            .arg(DrawKeys.schedule(generation, draw.id()))
                            .arg(period);
                    for (Row row : releases) {
                        request.arg(Rows.instant(row, "moment").toEpochMilli()).arg(DrawShardLoader.member(row));
                    }
                },
                (generation, reply) -> reply.toInteger() >= 0
                        ? ShardScript.Reply.of(true)
                        : new ShardScript.Reply<>(false, List.of(), List.of(DrawKeys.hash(generation, draw.id()))));
    }

    /**
     * Loads planned periods that are missing in Redis into the draw's schedule.
     *
     * @return true when they are loaded; false when Redis lacks the draw, no longer has the state of the shard's last recovery, or has a
     *     period that Postgres lacks
     */
    Future<Boolean> load(Draw draw, Shards.Shard shard, RedisLink redis, ShardScript script) {
        String key = DrawKeys.hash(shard.generation(), draw.id());
        Future<@Nullable Integer> lastPeriod = redis.send(
                        Request.cmd(Command.HGET).arg(key).arg("~"))
                .map(reply -> reply == null ? null : reply.toInteger())
                .recover(fault -> {
                    if (!RedisFault.is(fault, RedisFault.Kind.ERROR) && !(fault instanceof NumberFormatException)) {
                        return Future.failedFuture(fault);
                    }
                    script.broken(shard.generation());
                    return Future.succeededFuture();
                });
        return lastPeriod.compose(last -> {
            if (last == null) {
                return Future.succeededFuture(false);
            }
            return pool.preparedQuery("select n from period where draw = $1 and n >= $2 order by n limit $3")
                    .execute(Tuple.of(draw.id().value(), last, MAX_AT_ONCE))
                    .compose(rows -> {
                        List<Integer> periods = new ArrayList<>();
                        rows.forEach(row -> periods.add(row.getInteger("n")));
                        if (last >= 0 && !periods.remove(last)) { // a restore of Postgres lost the plan
                            script.broken(shard.generation());
                            return Future.succeededFuture(false);
                        }
                        Future<Boolean> done = Future.succeededFuture(true);
                        for (int period : periods) {
                            done = done.compose(there -> there
                                    ? releases(draw, period)
                                            .compose(releases ->
                                                    script.call(redis, shard, loadCall(draw, period, releases)))
                                    : Future.succeededFuture(false));
                        }
                        return done.recover(
                                fault -> ShardScript.unlessReported(fault).map(false));
                    });
        });
    }

    private Future<RowSet<Row>> releases(Draw draw, int period) {
        return pool.preparedQuery("""
                        select period, prize, n, moment from release
                        where draw = $1 and period = $2 and not withdrawn order by moment
                        """).execute(Tuple.of(draw.id().value(), period));
    }
}
