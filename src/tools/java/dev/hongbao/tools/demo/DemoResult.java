package dev.hongbao.tools.demo;

import java.util.List;
import java.util.Map;

/**
 * What the demo saw.
 *
 * @param sample the amounts of one drained packet; empty when there was none
 * @param faults what was wrong, one line each; empty when all is well
 */
public record DemoResult(
        Packets packets, Claims claims, Campaign campaign, Rain rain, long[] sample, List<String> faults) {
    /**
     * The packets, by how they ended.
     *
     * @param refundedAmount minor units
     */
    public record Packets(int sent, int drained, int refunded, long refundedAmount) {}

    /**
     * The campaign, in which each member has one share.
     *
     * @param claims on all its pools
     * @param returned to its host at the end, minor units
     */
    public record Campaign(int pools, int claims, long returned) {}

    /**
     * The rain, of which each member catches one share.
     *
     * @param caught shares
     * @param returned to its host at the end, minor units
     */
    public record Rain(int drops, int caught, long returned) {}

    /**
     * The claims.
     *
     * @param byOutcome how many of each
     */
    public record Claims(
            long answered, long perSecond, long p50Micros, long p99Micros, Map<String, Integer> byOutcome) {
        public Claims {
            byOutcome = Map.copyOf(byOutcome);
        }
    }
}
