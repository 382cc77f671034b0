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
 * What a sponsor says of a campaign, but for who may open pools: that is judged in Postgres, from the definition that is stored there.
 *
 * @param budget minor units, put in when it is made
 */
public record CampaignDefinition(
        String name,
        Metadata metadata,
        Asset asset,
        long budget,
        Window window,
        PoolShape pool,
        PoolTerms.Claiming claiming) {

    /** When pools are opened. @param opensAt null for at once */
    public record Window(@Nullable Instant opensAt, Instant endsAt) {}

    /**
     * What every pool is like.
     *
     * @param shares how many
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

        /** Why some amount of the range cannot be split; null when all can. What holds at both ends holds between them. */
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

    /** What is in a pool, minor units: drawn for each, from and to included. */
    public record Range(long from, long to) {}
}
