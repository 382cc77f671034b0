package dev.hongbao.domain.campaign;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.json.Text;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PoolTerms;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A sponsor's definition of a campaign, without the rules for openers: Postgres judges those from its stored copy.
 *
 * @param budget minor units, paid in at the creation
 */
public record CampaignDefinition(
        String name,
        Metadata metadata,
        Asset asset,
        long budget,
        Window window,
        PoolShape pool,
        PoolTerms.Claiming claiming) {

    /**
     * The time for opening pools.
     *
     * @param opensAt null for now
     */
    public record Window(@Nullable Instant opensAt, Instant endsAt) {}

    /**
     * The shape of every pool.
     *
     * @param shares their number
     * @param min smallest share, null for 1
     * @param max largest share, null for no limit of its own
     * @param life at most until the campaign ends
     */
    public record PoolShape(
            int shares,
            Range amount,
            @Nullable Long min,
            @Nullable Long max,
            SplitAlgorithm split,
            Duration life) {

        /** The reason why some amount of the range cannot be split; null when all can. It is enough to check both ends. */
        public @Nullable Text infeasible() {
            if (amount.from > amount.to) {
                return Text.of("pool.amount-range");
            }
            if (split == SplitAlgorithm.EQUAL && amount.from < amount.to) {
                return Text.of("pool.equal-amount");
            }
            Text least = SplitTerms.infeasible(split, amount.from, shares, min, max);
            return least != null ? least : SplitTerms.infeasible(split, amount.to, shares, min, max);
        }
    }

    /** The amount of a pool, minor units: drawn for each pool, both ends included. */
    public record Range(long from, long to) {}
}
