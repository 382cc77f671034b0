package dev.hongbao.tools.bench;

import dev.hongbao.values.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * An open loop over HTTP with half of the server's capacity, then with twice the capacity; a claim's answer is its settlement. At
 * half the server has to answer soon. At twice it has to keep its throughput, to refuse the surplus at once, and not to grow.
 */
final class OverloadBench extends Part {
    private static final int MAX_HEAP_MIB = 512;
    private static final int CAPACITY_CONNECTIONS = 256;

    /** {@code claim.max-waiting}: below the default, so that one thread has enough connections for the surplus. */
    private static final int MAX_WAITING = 2_000;

    /** Relative to the claims that may wait: the surplus has to reach the server. */
    private static final double CONNECTIONS = 1.3;

    private static final int MILLIS = 8_000;
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final ServerBed server;
    private final int maxWaiting;
    private final Row capacity = trial.row("capacity: settled in a closed loop", "claims/s");
    private final Row halfP50 = trial.row("half of the capacity offered: latency, p50", "µs");
    private final Row halfP99 =
            trial.row("half of the capacity offered: latency, p99", "µs").atMost(25_000);
    private final Row kept = trial.row("twice the capacity offered: settled", "claims/s")
            .over(capacity)
            .atLeast(0.8);
    private final Row refusedP50 = trial.row("  latency of a 503 once sent, p50", "µs");
    private final Row refusedP99 = trial.row("  latency of a 503 once sent, p99", "µs");
    private final Row growth = trial.row("  heap after a collection, after the load over before", "MiB")
            .atMost(32);

    private OverloadBench(ServerBed server, int maxWaiting) {
        super(server.bed());
        this.server = server;
        this.maxWaiting = maxWaiting;
        step("round", this::round);
    }

    static void run(Trial trial) throws Exception {
        int maxWaiting = trial.size(MAX_WAITING, 1);
        Map<String, String> options = Map.of("claim.max-waiting", Integer.toString(maxWaiting));
        List<Caller> members = BenchBed.members(trial.size(20_000, 1_000));
        try (ServerBed server = ServerBed.start(trial, MAX_HEAP_MIB, options, members)) {
            server.bed().fund();
            new OverloadBench(server, maxWaiting).run();
        }
    }

    private void round() throws Exception {
        int connections = Math.min(CAPACITY_CONNECTIONS, maxWaiting / 2);
        double settled = server.capacity(connections);
        capacity.add(settled);
        double perSecond = Math.max(1, settled);
        trial.step("half");
        HttpLoad.Outcome half = offer(connections, perSecond / 2).in(trial);
        halfP50.add(half.done.getValueAtPercentile(50));
        halfP99.add(half.done.getValueAtPercentile(99));
        trial.step("twice");
        twice(perSecond * 2);
    }

    private HttpLoad.Outcome offer(int connections, double perSecond) throws Exception {
        Duration length = trial.time(MILLIS);
        Duration lead = length.dividedBy(4);
        return server.load(connections)
                .perSecond(perSecond)
                .lead(lead)
                .patience(PATIENCE)
                .run(server.claims(perSecond, lead.plus(length)), length);
    }

    private void twice(double perSecond) throws Exception {
        double heap = server.heapMiB();
        HttpLoad.Outcome outcome = offer((int) (maxWaiting * CONNECTIONS), perSecond);
        growth.add(server.heapMiB() - heap);
        kept.add(outcome.donePerSecond());
        refusedP50.add(outcome.refusedSinceSent.getValueAtPercentile(50));
        refusedP99.add(outcome.refusedSinceSent.getValueAtPercentile(99));
        if (outcome.withoutRetryAfter + outcome.others + outcome.unanswered > 0) {
            trial.loadFault(outcome.withoutRetryAfter + " refusals without Retry-After; " + outcome.troubles());
        }
    }
}
