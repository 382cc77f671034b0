package dev.hongbao.engine.admission;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.journal.ShardCounts;
import org.jspecify.annotations.Nullable;

/** Where the claims of one event loop ask to be let in. Used on that loop only; its counts are read by {@link AdmissionControl}. */
public final class AdmissionGate {
    private final AdmissionControl control;
    private final Unsettled unsettled;
    private final ShardCounts arrivals;
    private final ShardCounts refused;
    private final double[] credit;
    private int refusals;

    /**
     * What is under way on the event loop, by shard.
     *
     * @param coming on their way to being accepted
     * @param waiting accepted, and not settled yet as far as is known
     * @param settled all that were settled after a wait, since the start
     */
    public record Unsettled(ShardCounts coming, ShardCounts waiting, ShardCounts settled) {
        long backlog(int shard) {
            return coming.of(shard) + waiting.of(shard);
        }
    }

    AdmissionGate(AdmissionControl control, Unsettled unsettled, int shards) {
        this.control = control;
        this.unsettled = unsettled;
        this.arrivals = new ShardCounts(shards);
        this.refused = new ShardCounts(shards);
        this.credit = new double[shards];
    }

    /**
     * Counts a claim that would have to be settled, and says whether it is let in. The chances are evenly spread: of ten claims with
     * a chance of 0.3 the fourth, the seventh and the tenth are let in.
     *
     * @param full whether this event loop has no place for it
     * @return null when it is; else what its caller is told, with another time to come again than those before and after it
     */
    public @Nullable UnavailableException refusal(int shard, boolean full) {
        arrivals.add(shard, 1);
        Terms terms = control.terms(shard);
        if (full) {
            return refuse(shard, terms);
        }
        if (terms.chance() < 1) {
            credit[shard] += terms.chance();
            if (credit[shard] < 1) {
                return refuse(shard, terms);
            }
            credit[shard] -= 1;
        }
        return terms.most() == Long.MAX_VALUE || control.backlog(shard) < terms.most() ? null : refuse(shard, terms);
    }

    private UnavailableException refuse(int shard, Terms terms) {
        refused.add(shard, 1);
        int wait = 1 + Math.floorMod(refusals++, terms.spreadSeconds());
        return UnavailableException.overloaded("More claims come than can be settled. Try again a little later.", wait);
    }

    long arrivals(int shard) {
        return arrivals.of(shard);
    }

    long refused(int shard) {
        return refused.of(shard);
    }

    long admitted(int shard) {
        return arrivals.of(shard) - refused.of(shard);
    }

    long settled(int shard) {
        return unsettled.settled().of(shard);
    }

    long backlog(int shard) {
        return unsettled.backlog(shard);
    }
}
