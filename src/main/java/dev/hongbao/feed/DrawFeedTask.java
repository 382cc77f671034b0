package dev.hongbao.feed;

import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The shard owner's work for feeds of draws: writes openings and wins, and also tells the host of openings. It reads settled state only, so
 * a repeated settlement, or one with a lost answer, gives one event. The transaction that ends a draw writes its end. Its steps run on the
 * persistence verticle's loop; {@link #suspect} is safe on any thread.
 */
final class DrawFeedTask implements OwnerTask {
    /** The least time between two events of wins in a group. */
    static final Duration GAP = Duration.ofSeconds(1);

    private static final int PAGE = 1000;

    private static final String OPENING = """
        draw_feed as f join draw as d on d.id = f.draw
        where not f.opened and f.opens_at <= now() and d.shard = any ($1) order by f.opens_at
        """;

    /** Openings that the feed or the host does not know. */
    private static final String OPENINGS = "((select from " + OPENING
            + "limit 1) union all (select from draw_unopened where opens_at <= now() order by opens_at limit 1)) as o";

    private static final String UNTOLD = """
        select f.draw from draw_feed as f join draw as d on d.id = f.draw
        where d.shard = any ($1) and exists (select from play as y where y.draw = f.draw and y.seq > f.told)
        limit $2
        """;

    private static final String TELL = "select feed_draws($1, $2 * interval '1 millisecond') as waiting";

    private final Loop loop;
    private final Pool pool;
    private final Set<DrawId> played = ConcurrentHashMap.newKeySet();
    private final IntFunction<Generation> generations;
    private Set<Generation> known = Set.of();
    private volatile boolean suspected;

    /**
     * @param pool of the owner's work
     * @param generations the present one of a shard
     */
    DrawFeedTask(Loop loop, Pool pool, IntFunction<Generation> generations) {
        this.loop = loop;
        this.pool = pool;
        this.generations = generations;
    }

    /** Notes draws with newly settled plays. Safe on any thread. */
    void settled(List<SettledPlays.Request> requests) {
        for (SettledPlays.Request request : requests) {
            if (!request.plays().isEmpty()) {
                played.add(request.draw());
            }
        }
    }

    /** Requests a search in Postgres, after a settlement failed or its outcome is unknown. */
    void suspect() {
        suspected = true;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        return OwnerTask.inTurn(List.of(() -> catchUp(live), this::tell));
    }

    /** Notes draws that have opened, and tells the host of them. Run it before the task itself. */
    OwnerTask openings() {
        return OwnerTask.whileAny(
                OPENINGS,
                (live, redis) -> find("select f.draw from " + OPENING + "limit $2", live)
                        .compose(found ->
                                pool.query("select draws_open()").execute().mapEmpty()));
    }

    /** Searches shards of new generations, where another server or an operator's replay may have settled plays without an event. */
    private Future<Void> catchUp(List<Integer> live) {
        if (suspected) {
            suspected = false;
            known = Set.of();
        }
        Set<Generation> before = known;
        known = live.stream().map(generations::apply).collect(Collectors.toSet());
        List<Integer> fresh = known.stream()
                .filter(each -> !before.contains(each))
                .map(Generation::shard)
                .toList();
        if (fresh.isEmpty()) {
            return Future.succeededFuture();
        }
        return find(UNTOLD, fresh)
                .onSuccess(full -> {
                    if (full) {
                        suspect();
                    }
                })
                .onFailure(fault -> suspect())
                .mapEmpty();
    }

    /** Notes the draws that a query finds; true when there may be more. */
    private Future<Boolean> find(String sql, List<Integer> shards) {
        return pool.preparedQuery(sql)
                .execute(Tuple.of(Rows.shorts(shards), PAGE))
                .map(rows -> {
                    rows.forEach(row -> played.add(new DrawId(row.getUUID("draw"))));
                    return rows.size() == PAGE;
                });
    }

    private Future<Void> tell() {
        List<DrawId> batch = new ArrayList<>();
        for (DrawId draw : played) {
            batch.add(draw);
            if (batch.size() == PAGE) {
                break;
            }
        }
        if (batch.isEmpty()) {
            return Future.succeededFuture();
        }
        // Before the statement: plays settled during it are noted again for the next one.
        batch.forEach(played::remove);
        return tell(batch)
                .<Void>map(waiting -> {
                    played.addAll(waiting);
                    loop.publish(Audience.NUDGE, null);
                    return null;
                })
                .onFailure(fault -> played.addAll(batch));
    }

    private Future<List<DrawId>> tell(Collection<DrawId> draws) {
        UUID[] ids = draws.stream().map(DrawId::value).toArray(UUID[]::new);
        return Transactions.statement(() -> pool.preparedQuery(TELL)
                .execute(Tuple.of(ids, GAP.toMillis()))
                .map(rows -> Stream.of(rows.iterator().next().getArrayOfUUIDs("waiting"))
                        .map(DrawId::new)
                        .toList()));
    }
}
