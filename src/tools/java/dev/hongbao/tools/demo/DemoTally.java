package dev.hongbao.tools.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** What the demo saw, and what was wrong with it. Confined to its event loop. */
final class DemoTally {
    private static final long MAX_LATENCY_NANOS = 60_000_000_000L;

    private final Histogram latency = new Histogram(MAX_LATENCY_NANOS, 3);
    private final Map<String, Integer> answers = new TreeMap<>();
    private final Map<String, String> firstClaims = new HashMap<>();
    private final List<String> faults = new ArrayList<>();
    private long raceNanos;

    /** Counts one answer to a claim; the same user's claim on the same packet must always be the same. */
    void claimed(String packet, String user, DemoClient.Answer answer) {
        latency.recordValue(Math.min(MAX_LATENCY_NANOS, answer.nanos()));
        String outcome = switch (answer.status()) {
            case 201 -> "claimed";
            case 200 -> "already claimed";
            default -> answer.problem();
        };
        answers.merge(outcome, 1, Integer::sum);
        if (answer.status() < 300) {
            String claim = answer.body().encode();
            String first = firstClaims.putIfAbsent(packet + " " + user, claim);
            if (first != null && !first.equals(claim)) {
                fault(user + " got two answers for " + packet + ": " + first + " and " + claim);
            }
        }
    }

    void raced(long nanos) {
        raceNanos += nanos;
    }

    void fault(String what) {
        faults.add(what);
    }

    void expect(int status, DemoClient.Answer answer, String what) {
        if (answer.status() != status) {
            fault(what + ": " + answer.status() + " " + answer.body());
        }
    }

    /** By outcome, in alphabetical order. */
    Map<String, Integer> answers() {
        return answers;
    }

    List<String> faults() {
        return faults;
    }

    long claims() {
        return latency.getTotalCount();
    }

    long claimsPerSecond() {
        return raceNanos == 0 ? 0 : claims() * 1_000_000_000L / raceNanos;
    }

    /** Microseconds within which this share of the claims was answered. */
    long latencyMicros(double percentile) {
        return latency.getValueAtPercentile(percentile) / 1000;
    }
}
