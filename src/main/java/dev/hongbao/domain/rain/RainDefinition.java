package dev.hongbao.domain.rain;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.Members;
import dev.hongbao.domain.campaign.CampaignDefinition.PoolShape;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PoolTerms;
import java.time.Duration;
import java.time.Instant;

/**
 * A sponsor's definition of a rain.
 *
 * @param budget minor units, all of it in the drops
 * @param members the audience, beside the members of its channel
 * @param claiming of all its drops; its total is the most shares of one user
 */
public record RainDefinition(
        String name,
        Metadata metadata,
        Asset asset,
        long budget,
        Members members,
        Fall fall,
        PoolTerms.Claiming claiming) {

    /**
     * The times and shapes of the drops. Times are whole milliseconds.
     *
     * @param drops 1 or more
     * @param drop the shape of each; it lives until the rain ends
     * @param expectedUsers users who may tap at the same time
     */
    public record Fall(Instant startsAt, Duration lasts, int drops, PoolShape drop, int expectedUsers) {
        private static final long LONGEST_TAIL_MILLIS = 3_000;
        private static final long LONGEST_SPREAD_MILLIS = 5_000;

        /**
         * Half of the slowest settlement rate on two small cores, 20,000 claims a second on one packet. See the guide's page on benchmarks.
         */
        private static final int TAPS_A_MILLI = 10;

        public Instant endsAt() {
            return startsAt.plus(lasts);
        }

        /**
         * The latest moment of a drop. It is before the end by a quarter of the rain, at most 3 s, so that the last drop can still be
         * caught.
         */
        public Instant lastAt() {
            return endsAt().minusMillis(Math.min(LONGEST_TAIL_MILLIS, lasts.toMillis() / 4));
        }

        /** Milliseconds over which clients spread their first tap at random: one for ten users, at most 5 s and half of the rain. */
        public long firstTapWithinMillis() {
            return Math.min(expectedUsers / TAPS_A_MILLI, Math.min(LONGEST_SPREAD_MILLIS, lasts.toMillis() / 2));
        }

        /**
         * The amount of a drop, minor units. Drops differ by one unit at most.
         *
         * @param n from 0
         */
        long amountOf(int n, long budget) {
            return budget / drops + (n < budget % drops ? 1 : 0);
        }
    }
}
