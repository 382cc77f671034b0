package dev.hongbao.domain.feed;

import dev.hongbao.domain.feed.FeedStore.Unannounced;
import dev.hongbao.domain.packet.LoadPackets;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.engine.cluster.Audience;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The shard owner's work for feeds of packets: writes progress about ten times a second and group, for any number of claims; announces
 * packets that their server did not; removes old events. Its steps run on the persistence verticle's loop; {@link #settled} and {@link
 * #suspect} are safe on any thread.
 */
final class FeedOwnerTask implements OwnerTask {
    private static final int PAGE = 1000;
    private static final Duration UNANNOUNCED_AGE = Duration.ofSeconds(2);
    private static final long ANNOUNCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Vertx vertx;
    private final FeedStore store;
    private final Shards shards;
    private final ShardScript script;
    private final ProgressQueue progressed;
    private final CatchUp catchUp;
    private final FeedTrimmer trimmer;
    private long announcedNanos = System.nanoTime();

    /** @param over whether a packet is known to have ended */
    FeedOwnerTask(Vertx vertx, FeedStore store, Shards shards, Predicate<PacketId> over, FeedTrimmer trimmer) {
        this.progressed = new ProgressQueue(over);
        this.catchUp = new CatchUp(store::open, PAGE, next -> progressed.add(next.group(), next.packet()));
        this.vertx = vertx;
        this.store = store;
        this.shards = shards;
        this.script = new ShardScript(vertx, shards);
        this.trimmer = trimmer;
    }

    /** Notes packets with newly settled claims. */
    void settled(List<Packet> packets) {
        packets.stream()
                .filter(packet -> !packet.group().isChannel()) // see RainFeedTask
                .forEach(packet -> progressed.add(packet.group(), packet.id()));
    }

    /** Requests a search in Postgres, after a settlement failed or its outcome is unknown. */
    void suspect() {
        catchUp.suspect();
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        trimmer.trimIfDue();
        return OwnerTask.inTurn(
                List.of(() -> catchUp.round(live), this::tellProgress, () -> announceForgotten(live, redis)));
    }

    private Future<Void> tellProgress() {
        // Before the statement: claims settled during it are noted again for the next one.
        List<ProgressQueue.Next> batch = progressed.take(PAGE);
        if (batch.isEmpty()) {
            return Future.succeededFuture();
        }
        return store.progress(batch.stream().map(ProgressQueue.Next::packet).toList())
                .onSuccess(told -> nudge())
                .onFailure(fault -> batch.forEach(next -> progressed.add(next.group(), next.packet())));
    }

    private void nudge() {
        vertx.eventBus().publish(Audience.NUDGE, null);
    }

    private Future<Void> announceForgotten(List<Integer> live, RedisLinks redis) {
        if (System.nanoTime() - announcedNanos < ANNOUNCE_NANOS || live.isEmpty()) {
            return Future.succeededFuture();
        }
        announcedNanos = System.nanoTime();
        return store.unannounced(live, UNANNOUNCED_AGE, PAGE).compose(waiting -> {
            Map<Integer, List<PacketId>> byShard = new HashMap<>();
            for (Unannounced packet : waiting) {
                byShard.computeIfAbsent(packet.shard(), shard -> new ArrayList<>())
                        .add(packet.packet());
            }
            List<Future<Void>> announcements = new ArrayList<>();
            // Their sender may have died before it loaded them.
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
}
