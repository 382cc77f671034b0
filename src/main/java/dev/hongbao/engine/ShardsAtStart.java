package dev.hongbao.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The progress of the owned shards at the start. Each shard counts once: one that needs a recovery later does not make the server
 * unready, since the others serve on. Thread-safe.
 */
final class ShardsAtStart {
    private static final Logger LOG = LoggerFactory.getLogger(ShardsAtStart.class);

    /** After so long, a shard whose recovery fails no longer blocks the start. A recovery that is only slow does. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;

    /** The owned shards that were never live, by number. */
    private final Map<Integer, Waiting> waiting = new TreeMap<>();

    private int recovered;
    private boolean anyLive;
    private boolean done;

    private record Waiting(long sinceNanos, String failure) {}

    ShardsAtStart() {
        this(System::nanoTime);
    }

    ShardsAtStart(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Adds shards to wait for. */
    public synchronized void acquired(List<Integer> shards) {
        shards.forEach(shard -> waiting.put(shard, new Waiting(0, "")));
    }

    /** Other servers own all shards now. */
    public synchronized void lost() {
        waiting.clear();
    }

    /** Another server owns the shard now. */
    public synchronized void lost(int shard) {
        waiting.remove(shard);
    }

    /** The shard settles. */
    public synchronized void live(int shard) {
        waiting.remove(shard);
        anyLive = true;
    }

    /**
     * Counts a recovery at the start. A shard's first generation does not count: there was nothing to lose.
     *
     * @return whether the start still goes on
     */
    public synchronized boolean recovered(Generation generation) {
        if (!done && generation.epoch() > 1) {
            recovered++;
        }
        return !done;
    }

    /** The number of shards that Redis had lost and the start restored. */
    synchronized int recovered() {
        return recovered;
    }

    /** Notes a failed attempt to make the shard live; it is repeated. */
    public synchronized void failed(int shard, String why) {
        waiting.computeIfPresent(
                shard,
                (id, before) -> new Waiting(before.failure.isEmpty() ? nanoTime.getAsLong() : before.sinceNanos, why));
    }

    /**
     * Whether each owned shard was live once, or has failed for {@link #PATIENCE} while others are live; stays true. If shards
     * are left behind, the log names them once.
     */
    synchronized boolean isDone() {
        if (!done && waiting.values().stream().allMatch(this::isHopeless) && (anyLive || waiting.isEmpty())) {
            done = true;
            List<String> left = new ArrayList<>();
            waiting.forEach((shard, why) -> left.add("shard " + shard + ": " + why.failure));
            if (!left.isEmpty()) {
                LOG.error(
                        "serving without shards whose recovery fails and is tried again; claims on their packets get"
                                + " 503: {}",
                        left);
            }
        }
        return done;
    }

    private boolean isHopeless(Waiting shard) {
        return !shard.failure.isEmpty() && nanoTime.getAsLong() - shard.sinceNanos > PATIENCE.toNanos();
    }
}
