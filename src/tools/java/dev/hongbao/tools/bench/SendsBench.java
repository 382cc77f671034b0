package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Trial.Step;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Role;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Money that moves without a claim, over HTTP: sends of packets of five shares, deposits, whole lives of packets. A closed loop. */
final class SendsBench {
    static final int SENDERS = 500;
    static final int MAX_HEAP_MIB = 1_024;

    /** As few as the backends of a chat have. */
    static final int CONNECTIONS = 64;

    /** Each claim waits for its settlement: five connections per packet. */
    private static final int LIFE_CONNECTIONS = 256;

    private static final int MILLIS = 6_000;

    private final Trial trial;
    private final ServerBed bed;
    private final byte[][] backend;

    private SendsBench(Trial trial, ServerBed bed) throws Exception {
        this.trial = trial;
        this.bed = bed;
        Caller service = new Caller(new UserId("backend"), Set.of(), Role.SERVICE, Instant.MAX);
        this.backend = HttpCalls.headers(bed.bed().config, List.of(service));
    }

    static void run(Trial trial) throws Exception {
        List<Caller> members = BenchBed.members(SENDERS);
        try (ServerBed bed = ServerBed.start(trial, MAX_HEAP_MIB, Map.of(), members)) {
            bed.bed().fund(members, new Asset("CNY"));
            SendsBench bench = new SendsBench(trial, bed);
            Row sends = trial.row("HTTP, packets of 5 sent", "sends/s").atLeast(4_000);
            Row p50 = trial.row("  latency, p50 (closed loop)", "µs");
            Row p99 = trial.row("  latency, p99 (closed loop)", "µs").atMost(60_000);
            Row deposits = trial.row("HTTP, deposits", "deposits/s").atLeast(5_000);
            Row lives = trial.row("HTTP, sent, claimed by five and drained", "packets/s")
                    .atLeast(1_500);
            trial.rounds(
                    bed.bed()::checkBooks,
                    new Step("sends", () -> {
                        HttpLoad.Outcome outcome = bench.load(HttpCalls.sends(bed.headers()), CONNECTIONS);
                        sends.add(outcome.speed());
                        p50.add(outcome.done.getValueAtPercentile(50));
                        p99.add(outcome.done.getValueAtPercentile(99));
                    }),
                    new Step(
                            "deposits",
                            () -> deposits.add(bench.load(HttpCalls.deposits(bench.backend, SENDERS), CONNECTIONS)
                                    .speed())),
                    new Step("whole lives", () -> bench.live(lives)));
        }
    }

    private HttpLoad.Outcome load(HttpLoad.Requests requests, int connections) throws Exception {
        HttpLoad.Outcome outcome = bed.load(connections).run(requests, trial.time(MILLIS));
        trial.loadFault(outcome.troubles());
        return outcome;
    }

    private void live(Row row) throws Exception {
        String drained = "select count(*) from packet where closed_at is not null";
        double before = bed.bed().number(drained);
        load(HttpCalls.lives(bed.headers()), LIFE_CONNECTIONS);
        row.add((bed.bed().number(drained) - before)
                * 1_000
                / trial.time(MILLIS).toMillis());
    }
}
