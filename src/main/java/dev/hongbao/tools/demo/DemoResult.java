package dev.hongbao.tools.demo;

import java.util.List;
import java.util.Map;

/**
 * What the demo saw.
 *
 * @param refundedAmount minor units
 * @param answers claims by outcome
 * @param sample the amounts of one drained packet; empty when there was none
 * @param faults what was wrong, one line each; empty when all is well
 */
public record DemoResult(
        int sent,
        int drained,
        int refunded,
        long refundedAmount,
        long claims,
        long claimsPerSecond,
        long p50Micros,
        long p99Micros,
        Map<String, Integer> answers,
        long[] sample,
        List<String> faults) {}
