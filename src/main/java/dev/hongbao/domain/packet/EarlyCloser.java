package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketStore.Progress;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.shard.Symptom;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends packets before their time, for the host's backend: by the script, the journal entry and the settlement that close a packet whose
 * time ran out. So a claim that was accepted before stands, and nothing is claimed after. One instance per event loop; call it on that
 * loop.
 */
public final class EarlyCloser {
    private static final long FIRST_LOOK_MILLIS = 5;
    private static final long MAX_LOOK_MILLIS = 100;

    private final Vertx vertx;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final Quarantine quarantine;
    private final Shards shards;
    private final RedisLinks redis;
    private final ShardScript script;
    private final long waitNanos;

    /**
     * @param redis the links of this event loop
     * @param wait for the settlement, at the most
     */
    public EarlyCloser(
            Vertx vertx,
            PacketStore store,
            PacketCatalog catalog,
            Quarantine quarantine,
            Shards shards,
            RedisLinks redis,
            Duration wait) {
        this.vertx = vertx;
        this.store = store;
        this.catalog = catalog;
        this.quarantine = quarantine;
        this.shards = shards;
        this.redis = redis;
        this.script = new ShardScript(vertx, shards);
        this.waitNanos = wait.toNanos();
    }

    /**
     * Ends a packet that nobody has claimed: its whole amount goes back to who paid it. Idempotent: also fine when it is over and nobody
     * has claimed.
     *
     * @param by who asks for it, for the books
     * @return when it is settled; refused with NOT_FOUND, or with CLAIMED when a claim was accepted before: then nothing is changed. Fails
     *     with {@link UnavailableException} when the outcome is not known in time
     */
    public Future<Void> cancel(PacketId packet, UserId by) {
        return end(new Close(packet, new Close.Early(PacketStatus.CANCELLED, by)));
    }

    /**
     * Ends a packet, whoever has claimed: what is left goes back to who paid it. Idempotent: also fine when it is over.
     *
     * @return as {@link #cancel}, but never refused with CLAIMED
     */
    public Future<Void> close(PacketId packet, UserId by) {
        return end(new Close(packet, new Close.Early(PacketStatus.CLOSED, by)));
    }

    private Future<Void> end(Close close) {
        return catalog.find(close.packet()).compose(packet -> {
            if (packet == null) {
                return unknown(close.packet());
            }
            return attempt(packet, close, System.nanoTime() + waitNanos, FIRST_LOOK_MILLIS);
        });
    }

    private Future<Void> unknown(PacketId packet) {
        return Future.failedFuture(
                quarantine.refuses(packet.value())
                        ? UnavailableException.setAside()
                        : new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")));
    }

    /** Looks whether it is over, asks the script if not, and looks again: a generation that ends meanwhile is asked anew. */
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
            if (System.nanoTime() - deadlineNanos > 0) {
                return Future.failedFuture(UnavailableException.unknown(Text.of("packet.not-settled")));
            }
            return ask(packet, close)
                    .compose(outcome -> outcome == ClosePackets.Outcome.CLAIMED
                            ? Future.failedFuture(claimed())
                            : vertx.timer(lookMillis, TimeUnit.MILLISECONDS)
                                    .compose(later -> attempt(
                                            packet, close, deadlineNanos, Math.min(2 * lookMillis, MAX_LOOK_MILLIS))));
        });
    }

    /** A packet that is not over has a key. One that was over a moment ago has lost it rightly. */
    private Future<Void> reportLost(Packet packet, Generation generation) {
        return store.progress(packet.id())
                .compose(progress -> progress == null || progress.closed()
                        ? Future.succeededFuture()
                        : shards.report(generation, new Symptom.Missing(PacketKeys.hash(generation, packet.id())))
                                .mapEmpty());
    }

    private static Future<Void> over(Close close, Progress progress) {
        boolean isCancelling = Objects.requireNonNull(close.early()).ending() == PacketStatus.CANCELLED;
        return isCancelling && progress.claimedCount() > 0 ? Future.failedFuture(claimed()) : Future.succeededFuture();
    }

    private static RefusedException claimed() {
        return new RefusedException(Refusal.CLAIMED, Text.of("packet.has-claims"));
    }

    /** Null when Redis did not answer, or the generation is over: what is wrong has been reported, and passes. */
    private Future<ClosePackets.@Nullable Outcome> ask(Packet packet, Close close) {
        Shards.Shard current = shards.current(packet.shard());
        return script.call(current.generation().link(redis), current, new ClosePackets(List.of(close)))
                .<ClosePackets.@Nullable Outcome>compose(outcomes -> outcomes.get(0) == ClosePackets.Outcome.MISSING
                        ? reportLost(packet, current.generation()).map(outcomes.get(0))
                        : Future.succeededFuture(outcomes.get(0)))
                .recover(fault -> shards.refresh().transform(looked -> Future.succeededFuture(null)));
    }
}
