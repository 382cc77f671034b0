package dev.hongbao.tools.bench;

import dev.hongbao.values.Caller;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Many users tap a packet that has a share for each, over HTTP, in an open loop. First all of them tap at the moment it opens,
 * which is the worst case. Then each taps at a random one of the seconds that the server names, as our clients do.
 */
final class RainBench extends Part {
    private static final int MAX_HEAP_MIB = 512;
    private static final int CAPACITY_CONNECTIONS = 1_024;

    /** Of a proxy: each waiting claim holds one, and the refusals use the others. */
    private static final int CONNECTIONS = 12_000;

    /** All taps are due in it. */
    private static final Duration MOMENT = Duration.ofMillis(250);

    /** Our clients spread the first tap over the time for so many: see {@code RainDefinition.Fall#firstTapWithinMillis}. */
    private static final int NAMED_TAPS_A_MILLI = 10;

    /** Between the send of the packet and its opening. */
    private static final Duration AHEAD = Duration.ofSeconds(2);

    /** This process knows Postgres' clock that well. */
    private static final Duration CLOCK_ERROR = Duration.ofMillis(10);

    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final ServerBed server;
    private final int users;
    private final Row capacity = trial.row("capacity: settled in a closed loop", "claims/s");
    private final Row settled = trial.row("all tap at one moment: settled, until the last", "claims/s")
            .over(capacity)
            .atLeast(0.9);
    private final Row refusedP99 =
            trial.row("  latency of a 503 once sent, p99", "µs").atMost(50_000);
    private final Row growth = trial.row("  heap after a collection, after the rain over before", "MiB")
            .atMost(16);
    private final Row spreadCaught = trial.row("taps spread as the server names it: settled, of all", "%");

    private RainBench(ServerBed server) {
        super(server.bed());
        this.server = server;
        users = server.headers().length;
        step("round", this::round);
    }

    static void run(Trial trial) throws Exception {
        List<Caller> members = BenchBed.members(trial.size(50_000, 1_000));
        try (ServerBed server = ServerBed.start(trial, MAX_HEAP_MIB, Map.of(), members)) {
            server.bed().fund();
            new RainBench(server).run();
        }
    }

    private void round() throws Exception {
        capacity.add(server.capacity(CAPACITY_CONNECTIONS));
        trial.step("at one moment");
        atOneMoment();
        trial.step("spread");
        HttpLoad.Outcome outcome =
                load(Duration.ofMillis(users / NAMED_TAPS_A_MILLI)).run(taps(), LONGEST);
        spreadCaught.add(100.0 * outcome.done.getTotalCount() / users);
    }

    /** @param within time in which the taps are due */
    private HttpLoad load(Duration within) {
        return server.load(Math.min(users, CONNECTIONS))
                .perSecond(users * 1e9 / within.toNanos())
                .patience(PATIENCE);
    }

    /** Sends a packet with a share for each user. Returns when the packet is open. */
    private HttpLoad.Requests taps() throws Exception {
        Instant opens = bed.engine.clock.instant().plus(AHEAD);
        var packets = bed.send(1, users, opens);
        Duration left = Duration.between(bed.engine.clock.instant(), opens.plus(CLOCK_ERROR));
        TimeUnit.MILLISECONDS.sleep(Math.max(0, left.toMillis()));
        return HttpCalls.inTurn(server.headers(), packets, false);
    }

    private void atOneMoment() throws Exception {
        double heap = server.heapMiB();
        HttpLoad.Requests taps = taps();
        HttpLoad.Outcome outcome = load(MOMENT).run(taps, LONGEST);
        growth.add(server.heapMiB() - heap);
        long done = outcome.done.getTotalCount();
        long refused = outcome.refusedSinceSent.getTotalCount();
        settled.add(done * 1e9 / outcome.lastDoneNanos);
        refusedP99.add(outcome.refusedSinceSent.getValueAtPercentile(99));
        if (done + refused < users || outcome.withoutRetryAfter > 0) {
            trial.loadFault((users - done - refused) + " taps were neither settled nor refused, " + outcome.unsent
                    + " not sent; " + outcome.withoutRetryAfter + " refusals without Retry-After; "
                    + outcome.troubles());
        }
    }
}
