package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.packet.PacketStore.Progress;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends packets early for the host's backend. It uses the script, journal entry and settlement of an ordinary close: earlier accepted claims
 * stand, and no claim follows. One instance per event loop; call it on that loop.
 */
final class EarlyCloser {
    private static final long FIRST_LOOK_MILLIS = 5;
    private static final long MAX_LOOK_MILLIS = 100;

    private final Loop loop;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final Quarantine quarantine;
    private final Shards shards;
    private final RedisLinks redis;
    private final ShardScript script;
    private final long waitNanos;

    /**
     * @param redis the links of this event loop
     * @param wait the longest wait for the settlement
     */
    public EarlyCloser(
            Loop loop,
            PacketStore store,
            PacketCatalog catalog,
            Quarantine quarantine,
            Shards shards,
            RedisLinks redis,
            Duration wait) {
        this.loop = loop;
        this.store = store;
        this.catalog = catalog;
        this.quarantine = quarantine;
        this.shards = shards;
        this.redis = redis;
        this.script = new ShardScript(loop, shards);
        this.waitNanos = wait.toNanos();
    }

    /**
     * Ends a packet without claims. Its whole amount returns to its payer. Idempotent: succeeds also when the packet is over without
     * claims.
     *
     * @param by the caller, for the books
     * @return completes when the end is settled. Refused with NOT_FOUND, or with CLAIMED after an accepted claim; then nothing changed.
     *     Fails with {@link UnavailableException} when the outcome is not known in time
     */
    public Future<Void> cancel(PacketId packet, UserId by) {
        return end(new Close(packet, PacketView.Status.CANCELLED, by));
    }

    /**
     * Ends a packet with or without claims. The remainder returns to its payer. Idempotent: succeeds also when the packet is over.
     *
     * @return as {@link #cancel}, but never refused with CLAIMED
     */
    public Future<Void> close(PacketId packet, UserId by) {
        return end(new Close(packet, PacketView.Status.CLOSED, by));
    }

    private Future<Void> end(Close close) {
        return catalog.find(close.packet()).compose(packet -> {
            if (packet == null) {
                return unknown(close.packet());
            }
            return attempt(packet, close, loop.nanos() + waitNanos, FIRST_LOOK_MILLIS);
        });
    }

    private Future<Void> unknown(PacketId packet) {
        return Future.failedFuture(
                quarantine.refuses(packet.value())
                        ? UnavailableException.setAside()
                        : new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")));
    }

    /** Checks whether the packet is over, calls the script if not, and checks again. Repeats the call in a new generation. */
    private Future<Void> attempt(Packet packet, Close close, long deadlineNanos, long lookMillis) {
        return store.progress(packet.id()).compose(progress -> {
            if (progress == null) {
                return unknown(packet.id());
            }
            if (progress.closed()) {
                return over(close, progress);
            }
            if (quarantine.holds(packet.id().value())) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            if (loop.nanos() - deadlineNanos > 0) {
                return Future.failedFuture(UnavailableException.unknown(Text.of("packet.not-settled")));
            }
            return ask(packet, close)
                    .compose(outcome -> outcome == ClosePackets.Outcome.CLAIMED
                            ? Future.failedFuture(claimed())
                            : loop.pause(lookMillis)
                                    .compose(later -> attempt(
                                            packet, close, deadlineNanos, Math.min(2 * lookMillis, MAX_LOOK_MILLIS))));
        });
    }

    /** An open packet without a key is lost data. A packet that just ended has no key, and that is right. */
    private Future<Void> reportLost(Packet packet, Generation generation) {
        return store.progress(packet.id())
                .compose(progress -> progress == null || progress.closed()
                        ? Future.succeededFuture()
                        : shards.report(generation, Symptom.missing(PacketKeys.hash(generation, packet.id())))
                                .mapEmpty());
    }

    private static Future<Void> over(Close close, Progress progress) {
        boolean isCancelling = close.ending() == PacketView.Status.CANCELLED;
        return isCancelling && progress.claimedCount() > 0 ? Future.failedFuture(claimed()) : Future.succeededFuture();
    }

    private static RefusedException claimed() {
        return new RefusedException(Refusal.CLAIMED, Text.of("packet.has-claims"));
    }

    /** Null when Redis did not answer or the generation ended. The fault is already reported; the caller may try again. */
    private Future<ClosePackets.@Nullable Outcome> ask(Packet packet, Close close) {
        Shards.Shard current = shards.current(packet.shard());
        return script.call(current.generation().link(redis), current, new ClosePackets(List.of(close)).call())
                .<ClosePackets.@Nullable Outcome>compose(outcomes -> outcomes.get(0) == ClosePackets.Outcome.MISSING
                        ? reportLost(packet, current.generation()).map(outcomes.get(0))
                        : Future.succeededFuture(outcomes.get(0)))
                .recover(fault -> shards.refresh().transform(looked -> Future.succeededFuture(null)));
    }
}
