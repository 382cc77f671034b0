package dev.hongbao.engine.admission;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.journal.ShardCounts;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where the claims or the plays of one event loop ask to be let in. Used on that loop only; its counts are read by {@link
 * AdmissionControl}.
 */
public final class AdmissionGate {
    /** Refusals made beforehand, by their Retry-After in seconds, so that a refusal allocates nothing. */
    private static final UnavailableException[] REFUSALS = IntStream.rangeClosed(0, Terms.MOST_SPREAD)
            .mapToObj(seconds -> UnavailableException.overloaded(
                    "More come than can be settled. Try again a little later.", Math.max(1, seconds)))
            .toArray(UnavailableException[]::new);

    private final AdmissionControl control;
    private final ShardCounts waiting;
    private final ShardCounts settled;
    private final ShardCounts arrivals;
    private final ShardCounts admitted;
    private final ShardCounts refused;
    private final ShardCounts coming;
    private final double[] credit;
    private int refusals;

    /**
     * @param waiting what is accepted on this event loop, and not settled yet as far as is known
     * @param settled what was settled after a wait on this event loop, since the start
     */
    AdmissionGate(AdmissionControl control, ShardCounts waiting, ShardCounts settled, int shards) {
        this.control = control;
        this.waiting = waiting;
        this.settled = settled;
        this.arrivals = new ShardCounts(shards);
        this.admitted = new ShardCounts(shards);
        this.refused = new ShardCounts(shards);
        this.coming = new ShardCounts(shards);
        this.credit = new double[shards];
    }

    /** The way in of one claim or play. */
    public Entry entry(int shard) {
        return new Entry(this, shard);
    }

    /**
     * Counts what would have to be settled, and says whether it is let in. The chances are evenly spread: of ten with a chance of 0.3
     * the fourth, the seventh and the tenth are let in.
     *
     * @param full whether this event loop has no place for it
     * @return null when it is, and then it is counted as coming; else what its caller is told, with another time to come again than
     *     those before and after it
     */
    @Nullable
    UnavailableException refusal(int shard, boolean full) {
        arrivals.add(shard, 1);
        Terms terms = control.terms(shard);
        if (full
                || !hasChance(shard, terms)
                || (terms.isBounded() && control.unsettled(shard, terms) >= terms.most())) {
            return refuse(shard, terms);
        }
        admitted.add(shard, 1);
        coming.add(shard, 1);
        return null;
    }

    /**
     * The same for what waits for no settlement: it has the same chance, and counts as nothing of what comes and waits.
     */
    @Nullable
    UnavailableException refusalInPassing(int shard) {
        Terms terms = control.terms(shard);
        return hasChance(shard, terms) ? null : refuse(shard, terms);
    }

    private boolean hasChance(int shard, Terms terms) {
        if (terms.chance() >= 1) {
            return true;
        }
        credit[shard] += terms.chance();
        if (credit[shard] < 1) {
            return false;
        }
        credit[shard] -= 1;
        return true;
    }

    private UnavailableException refuse(int shard, Terms terms) {
        refused.add(shard, 1);
        return REFUSALS[1 + Math.floorMod(refusals++, terms.spreadSeconds())];
    }

    /** What was let in has its answer of the script. */
    void arrived(int shard) {
        coming.add(shard, -1);
    }

    long arrivals(int shard) {
        return arrivals.of(shard);
    }

    long refused(int shard) {
        return refused.of(shard);
    }

    long admitted(int shard) {
        return admitted.of(shard);
    }

    long settled(int shard) {
        return settled.of(shard);
    }

    long coming(int shard) {
        return coming.of(shard);
    }

    long waiting(int shard) {
        return waiting.of(shard);
    }
}
