package dev.hongbao.domain.rain;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.Members;
import dev.hongbao.domain.campaign.CampaignDefinition.PoolShape;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PoolTerms;
import java.time.Duration;
import java.time.Instant;

/**
 * What a sponsor says of a rain.
 *
 * @param budget minor units, all of it in the drops
 * @param members whom it is for, beside its channel's
 * @param claiming of all its drops; its total is how many shares one user may catch
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
     * When and how the drops fall. Times are whole milliseconds.
     *
     * @param drops 1 or more
     * @param drop what each is like; it lives until the rain ends
     * @param expectedUsers who may tap at once
     */
    public record Fall(Instant startsAt, Duration lasts, int drops, PoolShape drop, int expectedUsers) {
        private static final long LONGEST_TAIL_MILLIS = 3_000;
        private static final long LONGEST_SPREAD_MILLIS = 5_000;

        /** Less than the least that two small cores settled of one packet: 20,000 a second, see the guide's page on benchmarks. */
        private static final int TAPS_A_MILLI = 10;

        public Instant endsAt() {
            return startsAt.plus(lasts);
        }

        /** Drops fall before it, so that the last one can still be caught: a quarter of the time, 3 s at the most, before the end. */
        public Instant lastAt() {
            return endsAt().minusMillis(Math.min(LONGEST_TAIL_MILLIS, lasts.toMillis() / 4));
        }

        /** Milliseconds over which clients spread their first tap, each at random: ten users in each, at most half of the rain. */
        public long firstTapWithinMillis() {
            return Math.min(expectedUsers / TAPS_A_MILLI, Math.min(LONGEST_SPREAD_MILLIS, lasts.toMillis() / 2));
        }

        /** What is in a drop, minor units: all have the same, but for one unit. @param n from 0 */
        long amountOf(int n, long budget) {
            return budget / drops + (n < budget % drops ? 1 : 0);
        }
    }
}
