package dev.hongbao.domain.feed;

import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.engine.cluster.Audience;
import dev.hongbao.domain.packet.PacketSender;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces packets that are now claimable. Packets gather during a statement and for a moment after its start. The shard's owner announces
 * packets lost here by a crash or a fault, see {@link FeedOwnerTask}. Thread-safe.
 */
final class Announcer {
    private static final Logger LOG = LoggerFactory.getLogger(Announcer.class);

    /** Waiting packets at most. The owner announces the rest. */
    private static final int MAX_WAITING = 10_000;

    private static final int BATCH = 500;

    /**
     * The least time between two statements' starts. Each writes the feed of every group with events, so under load fewer statements cost
     * less. {@link FeedHub} polls no more often.
     */
    private static final long MIN_GAP_NANOS = 20_000_000;

    private final Vertx vertx;
    private final FeedStore store;
    private final Set<PacketId> waiting = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile long begunNanos = System.nanoTime() - MIN_GAP_NANOS;

    Announcer(Vertx vertx, FeedStore store) {
        this.vertx = vertx;
        this.store = store;
        vertx.eventBus().<PacketSender.Loaded>localConsumer(PacketSender.Loaded.ADDRESS, loaded -> {
            if (waiting.size() < MAX_WAITING) {
                waiting.addAll(loaded.body().packets());
                announce();
            }
        });
    }

    private void announce() {
        if (waiting.isEmpty() || !busy.compareAndSet(false, true)) {
            return;
        }
        long gap = MIN_GAP_NANOS - (System.nanoTime() - begunNanos);
        if (gap > 0) {
            vertx.setTimer(gap / 1_000_000 + 1, later -> announceNow());
        } else {
            announceNow();
        }
    }

    /** Called only by the caller that set it busy. */
    private void announceNow() {
        begunNanos = System.nanoTime();
        List<PacketId> batch = new ArrayList<>();
        for (PacketId packet : waiting) {
            batch.add(packet);
            if (batch.size() == BATCH) {
                break;
            }
        }
        batch.forEach(waiting::remove);
        store.announce(batch).onComplete(done -> {
            busy.set(false);
            if (done.succeeded()) {
                vertx.eventBus().publish(Audience.NUDGE, null);
            } else {
                LOG.warn(
                        "{} packets are left to their owners to announce: {}",
                        batch.size(),
                        done.cause().toString());
            }
            announce();
        });
    }
}
