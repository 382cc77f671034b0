package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The shard owner's work for draws, all by Postgres' clock: plans and loads periods, ends periods without carry-over, and closes due draws.
 * Ends are journal entries, so they follow every earlier play.
 */
final class DrawOwnerTask {
    /** The most ends that wait for their settlement. */
    private static final int PAGE = 256;

    /** Draws whose definitions are read for one turn: each may have thousands of names. */
    private static final int PLANNED_PAGE = 50;

    /** A turn of planning starts nothing more after this time, so that the other tasks go on. The next tick continues. */
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * The script does not recognise a repeated end of a period, and each repetition adds an entry. So an end is not repeated at every tick
     * while settlement is behind.
     */
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The draws that are due, the longest due first in each shard. */
    static final String DUE = """
            unnest($1::smallint[]) as s(shard)
            cross join lateral (select d.id, null::integer as n, 0::bigint as releases
                                from draw as d
                                where d.shard = s.shard and d.closed_at is null and d.closes_at <= now()
                                  and not exists (select from quarantine_unit as q where q.id = d.id)
                                order by d.closes_at limit %s) as e
            """;

    /**
     * Some seconds after the end. A late play from a server whose clock lags still finds the period's releases, and so does a draw's
     * replay.
     */
    static final String PERIODS_OVER = """
            unnest($1::smallint[]) as s(shard)
            cross join lateral (select d.id, p.n,
                                       (select coalesce(sum((select max(r.n) from release as r
                                                             where r.draw = z.draw and r.period = p.n and r.prize = z.n)), 0)
                                        from prize as z where z.draw = d.id) as releases
                                from draw as d join period as p on p.draw = d.id
                                where d.shard = s.shard and d.closed_at is null and d.mode = 'schedule' and not d.carry_over
                                  and p.ended_at is null and p.ends_at <= now() - interval '10 seconds'
                                  and not exists (select from quarantine_unit as q where q.id = d.id)
                                order by p.ends_at, d.id limit %s) as e
            """;

    private static final String ENDS = "select e.id, s.shard, e.n, e.releases from ";

    private final Pool pool;
    private final DrawStore store;
    private final DrawCatalog catalog;
    private final DrawPlanner planner;
    private final BlockingQueue<DrawId> closedDraws;
    private final Shards shards;
    private final Loop loop;
    private final ShardScript script;
    private final Map<DrawId, Next> next = new HashMap<>();

    /** The moment of each open draw's latest turn. */
    private final Map<DrawId, Long> turns = new HashMap<>();

    private final Map<Written, Long> written = new HashMap<>();
    private int firstShard;

    public DrawOwnerTask(
            Pool pool,
            DrawStore store,
            DrawCatalog catalog,
            DrawPlanner planner,
            BlockingQueue<DrawId> closedDraws,
            Shards shards,
            Loop loop) {
        this.pool = pool;
        this.store = store;
        this.catalog = catalog;
        this.planner = planner;
        this.closedDraws = closedDraws;
        this.shards = shards;
        this.loop = loop;
        this.script = new ShardScript(loop, shards);
    }

    /** The next time to plan a draw. Void after a recovery of its shard, or when the clock goes back. */
    private record Next(Generation generation, Instant since, Instant at) {}

    /** An end in a generation's journal, not settled yet. */
    private record Written(Generation generation, DrawEnd end) {}

    /** @param releases of the period; 0 for a draw */
    private record Due(int shard, DrawEnd end, long releases) {}

    /** The call of {@code end.lua}. Returns the ends that it wrote. */
    private static ShardScript.Call<List<DrawEnd>> endCall(List<DrawEnd> ends) {
        return new ShardScript.Call<>(
                "end",
                2 * ends.size(),
                (generation, request) -> {
                    for (DrawEnd end : ends) {
                        request.arg(DrawKeys.hash(generation, end.draw()))
                                .arg(DrawKeys.schedule(generation, end.draw()));
                    }
                    for (DrawEnd end : ends) {
                        request.arg(end.draw().toString())
                                .arg(end.period() == null ? "-" : end.period().toString());
                    }
                },
                (generation, reply) -> ended(ends, generation, reply));
    }

    private static ShardScript.Reply<List<DrawEnd>> ended(List<DrawEnd> ends, Generation generation, Response reply) {
        String[] outcomes = reply.get(1).toString().split(" ");
        List<DrawEnd> ending = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < outcomes.length; i++) {
            DrawEnd end = ends.get(i);
            if (outcomes[i].equals("ending")) {
                ending.add(end);
            } else if (outcomes[i].equals("missing")) {
                missing.add(DrawKeys.hash(generation, end.draw()));
            }
        }
        return new ShardScript.Reply<>(ending, List.copyOf(ending), missing);
    }

    List<OwnerTask> tasks() {
        return List.of(
                (live, redis) -> removeKeys(redis),
                OwnerTask.whileAny(
                        DrawStore.SCHEDULED,
                        (live, redis) -> store.scheduled(live).compose(draws -> planAll(draws, redis))),
                ending(DUE),
                ending(PERIODS_OVER));
    }

    private OwnerTask ending(String rows) {
        return OwnerTask.whileAny(
                rows.formatted("1"),
                (live, redis) -> pool.preparedQuery(ENDS + rows.formatted("$2"))
                        .execute(Tuple.of(Rows.shorts(live), PAGE))
                        .compose(due -> end(due, redis)));
    }

    private Future<Void> planAll(Map<DrawId, Integer> draws, RedisLinks redis) {
        next.keySet().retainAll(draws.keySet());
        turns.keySet().retainAll(draws.keySet());
        return draws.isEmpty() ? Future.succeededFuture() : store.now().compose(now -> planDue(draws, redis, now));
    }

    /** Skips draws with nothing to plan at this tick: most of them are never read. Reads a page of the longest waiting ones. */
    private Future<Void> planDue(Map<DrawId, Integer> draws, RedisLinks redis, Instant now) {
        List<DrawId> due = draws.entrySet().stream()
                .filter(draw -> isDue(next.get(draw.getKey()), shards.current(draw.getValue()), now))
                .map(Map.Entry::getKey)
                .sorted(Comparator.comparing(draw -> turns.getOrDefault(draw, Long.MIN_VALUE)))
                .limit(PLANNED_PAGE)
                .toList();
        return catalog.findAll(due).compose(found -> {
            long until = loop.nanos() + TURN_NANOS; // not before: the definitions may take longer than a turn
            Future<Void> done = Future.succeededFuture();
            for (DrawId id : due) {
                Future<Void> before = done;
                // A failure does not stop the next draw: its shard may be on another node.
                done = before.transform(any -> plan(id, found.get(id), redis, now, until))
                        .compose(planned -> before);
            }
            return done;
        });
    }

    private static boolean isDue(@Nullable Next known, Shards.Shard shard, Instant now) {
        return known == null
                || !known.generation.equals(shard.generation())
                || !now.isBefore(known.at)
                || now.isBefore(known.since);
    }

    /** @param draw null if its definition cannot be read: it has its turn, so that it stands in nobody's way */
    private Future<Void> plan(DrawId id, @Nullable Draw draw, RedisLinks redis, Instant now, long until) {
        if (!isBefore(until)) {
            return Future.succeededFuture();
        }
        turns.put(id, loop.nanos());
        if (draw == null) {
            return Future.succeededFuture();
        }
        Shards.Shard shard = shards.current(draw.shard());
        RedisLink link = shard.generation().link(redis);
        // A plan that is made again would hide that a restore of Postgres lost it, and others before it.
        return planner.load(draw, shard, link, script)
                .compose(isWhole -> isWhole ? planNext(draw, shard, link, now, until) : Future.succeededFuture());
    }

    private boolean isBefore(long nanos) {
        return loop.nanos() - nanos < 0;
    }

    private Future<Void> planNext(Draw draw, Shards.Shard shard, RedisLink link, Instant now, long until) {
        return planner.plan(draw, now, () -> isBefore(until))
                .compose(planned -> planner.load(draw, shard, link, script).map(loaded -> {
                    // A draw that is still behind is planned again at the next tick.
                    if (loaded && planned < DrawPlanner.MAX_AT_ONCE && isBefore(until)) {
                        next.put(draw.id(), new Next(shard.generation(), now, planner.nextAt(draw, now)));
                    }
                    return null;
                }));
    }

    private Future<Void> end(RowSet<Row> rows, RedisLinks redis) {
        long now = loop.nanos();
        written.values().removeIf(at -> now - at > AGAIN_NANOS);
        List<Due> waiting = new ArrayList<>();
        List<Due> more = new ArrayList<>();
        for (Row row : rows) {
            Due due = new Due(
                    row.getInteger("shard"),
                    new DrawEnd(new DrawId(row.getUUID("id")), row.getInteger("n")),
                    row.getLong("releases"));
            boolean isWritten =
                    written.containsKey(new Written(shards.current(due.shard).generation(), due.end));
            (isWritten ? waiting : more).add(due);
        }
        List<Future<Void>> calls = new ArrayList<>();
        atOnce(waiting, more).forEach((id, ends) -> {
            Shards.Shard shard = shards.current(id);
            calls.add(script.call(shard.generation().link(redis), shard, endCall(ends))
                    .onSuccess(ended -> ended.forEach(end -> written.put(new Written(shard.generation(), end), now)))
                    .<Void>mapEmpty()
                    .recover(ShardScript::unlessReported));
        });
        return Future.join(calls).mapEmpty();
    }

    /**
     * The ends that may be written now, by shard. One statement may settle all that wait, so they have at most as many releases as one
     * period may have. Another shard comes first each time.
     *
     * @param waiting those that are written already
     */
    private Map<Integer, List<DrawEnd>> atOnce(List<Due> waiting, List<Due> more) {
        int first = firstShard++;
        long releases = waiting.stream().mapToLong(Due::releases).sum();
        int count = waiting.size();
        List<Due> inTurn = more.stream()
                .sorted(Comparator.comparing(due -> Math.floorMod(due.shard - first, shards.count())))
                .toList();
        Map<Integer, List<DrawEnd>> ends = new HashMap<>();
        for (Due due : inTurn) {
            releases += due.releases;
            if (count == PAGE || count > 0 && releases > DrawDefinition.MAX_RELEASES) {
                break;
            }
            count++;
            ends.computeIfAbsent(due.shard, shard -> new ArrayList<>()).add(due.end);
        }
        return ends;
    }

    private Future<Void> removeKeys(RedisLinks redis) {
        List<DrawId> over = new ArrayList<>();
        closedDraws.drainTo(over, PAGE);
        if (over.isEmpty()) {
            return Future.succeededFuture();
        }
        // The current generations. If Postgres steps back meanwhile, a closed draw may be open in the next one.
        List<Generation> generations = IntStream.range(0, shards.count())
                .mapToObj(shard -> shards.current(shard).generation())
                .toList();
        return catalog.findAll(over).compose(draws -> {
            return redis.unlink(draws.values().stream()
                    .flatMap(draw -> {
                        Generation generation = generations.get(draw.shard());
                        return Stream.of(
                                DrawKeys.hash(generation, draw.id()), DrawKeys.schedule(generation, draw.id()));
                    })
                    .toList());
        });
    }
}
