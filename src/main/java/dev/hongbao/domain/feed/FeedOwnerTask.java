package dev.hongbao.domain.feed;

import dev.hongbao.domain.claim.SettledClaims;
import dev.hongbao.domain.feed.FeedStore.Unannounced;
import dev.hongbao.domain.packet.LoadPackets;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a shard's owner does for the feeds: tells progress, about ten times a second and group whatever the number of claims; announces
 * packets whose server did not; removes what is old. Its steps run on the persistence verticle's loop; {@link #suspect} is
 * safe on any thread.
 */
final class FeedOwnerTask implements OwnerTask {
    private static final int PAGE = 1000;
    private static final Duration UNANNOUNCED_AGE = Duration.ofSeconds(2);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long TRIM_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Vertx vertx;
    private final FeedStore store;
    private final FeedStore trimming;
    private final Shards shards;
    private final ShardScript script;
    private final Retention retention;
    private final ProgressQueue progressed;
    private volatile Set<Integer> known = Set.of();
    private long sweptNanos = System.nanoTime();
    private long trimmedNanos = System.nanoTime();
    private volatile @Nullable String trimHorizon;

    /**
     * Which events are kept.
     *
     * @param time how long
     * @param most how many of a group
     */
    record Retention(Duration time, int most) {}

    /**
     * @param trimming on connections whose statements may take minutes: the first trim after a long stop deletes a lot
     * @param over whether a packet is known to have ended
     */
    FeedOwnerTask(
            Vertx vertx,
            FeedStore store,
            FeedStore trimming,
            Shards shards,
            Predicate<PacketId> over,
            Retention retention) {
        this.progressed = new ProgressQueue(over);
        this.vertx = vertx;
        this.store = store;
        this.trimming = trimming;
        this.shards = shards;
        this.script = new ShardScript(vertx, shards);
        this.retention = retention;
        vertx.eventBus()
                .<SettledClaims>localConsumer(
                        SettledClaims.ADDRESS,
                        settled -> settled.body().packets().stream()
                                .filter(packet -> !packet.group().isChannel()) // see RainNews
                                .forEach(packet -> progressed.add(packet.group(), packet.id())));
    }

    /** A settlement failed, or its outcome is unknown: what it may have settled is looked for in Postgres. */
    void suspect() {
        known = Set.of();
    }

    /** Postgres went back: what it has is looked at anew, and its transactions' ids may count from an earlier one. */
    void forget() {
        suspect();
        trimHorizon = null;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        return catchUp(live)
                .compose(done -> tellProgress())
                .compose(done -> sweep(live, redis))
                .compose(done -> trim());
    }

    /** Of shards that are newly owned, another server may have settled claims without telling. */
    private Future<Void> catchUp(List<Integer> live) {
        Set<Integer> now = new HashSet<>(live);
        Set<Integer> before = known;
        List<Integer> fresh =
                live.stream().filter(shard -> !before.contains(shard)).toList();
        if (fresh.isEmpty()) {
            known = now;
            return Future.succeededFuture();
        }
        known = now;
        return store.lagging(fresh, PAGE)
                .<Void>map(packets -> {
                    packets.forEach(next -> progressed.add(next.group(), next.packet()));
                    if (packets.size() == PAGE) {
                        suspect();
                    }
                    return null;
                })
                .onFailure(fault -> suspect());
    }

    private Future<Void> tellProgress() {
        // Before the statement: what is settled meanwhile is told the next time.
        List<ProgressQueue.Next> batch = progressed.take(PAGE);
        if (batch.isEmpty()) {
            return Future.succeededFuture();
        }
        return store.progress(batch.stream().map(ProgressQueue.Next::packet).toList())
                .onSuccess(told -> nudge())
                .onFailure(fault -> batch.forEach(next -> progressed.add(next.group(), next.packet())));
    }

    private void nudge() {
        vertx.eventBus().publish(FeedHub.NUDGE, null);
    }

    private Future<Void> sweep(List<Integer> live, RedisLinks redis) {
        if (System.nanoTime() - sweptNanos < SWEEP_NANOS || live.isEmpty()) {
            return Future.succeededFuture();
        }
        sweptNanos = System.nanoTime();
        return store.unannounced(live, UNANNOUNCED_AGE, PAGE).compose(waiting -> {
            Map<Integer, List<PacketId>> byShard = new HashMap<>();
            for (Unannounced packet : waiting) {
                byShard.computeIfAbsent(packet.shard(), shard -> new ArrayList<>())
                        .add(packet.packet());
            }
            List<Future<Void>> announcements = new ArrayList<>();
            // Their sender may have died before they were loaded.
            byShard.forEach((id, packets) -> {
                Shards.Shard shard = shards.current(id);
                announcements.add(script.call(shard.generation().link(redis), shard, new LoadPackets(packets))
                        .compose(loaded -> store.announce(packets))
                        .onSuccess(told -> nudge())
                        .recover(ShardScript::unlessReported));
            });
            return Future.join(announcements).mapEmpty();
        });
    }

    private Future<Void> trim() {
        if (System.nanoTime() - trimmedNanos < TRIM_NANOS) {
            return Future.succeededFuture();
        }
        trimmedNanos = System.nanoTime();
        String since = trimHorizon == null ? "0" : trimHorizon;
        return store.changed(null)
                .compose(now -> trimming.trim(retention.time, retention.most, since)
                        .onSuccess(gone -> trimHorizon = now.horizon()))
                .mapEmpty();
    }
}
