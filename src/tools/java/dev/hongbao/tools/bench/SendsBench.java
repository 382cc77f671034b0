package dev.hongbao.tools.bench;

import dev.hongbao.values.Caller;
import java.util.List;
import java.util.Map;

/** Money that moves without a claim, over HTTP: sends of packets of five shares, deposits, whole lives of packets. A closed loop. */
final class SendsBench extends Part {
    private static final int SENDERS = 500;
    private static final int MAX_HEAP_MIB = 1_024;

    /** As few as the backends of a chat have. */
    private static final int CONNECTIONS = 64;

    /** Each claim waits for its settlement: five connections per packet. */
    private static final int LIFE_CONNECTIONS = 256;

    private static final int MILLIS = 6_000;
    private static final String DRAINED = "select count(*) from packet where closed_at is not null";

    private final ServerBed server;
    private final Row sends = trial.row("HTTP, packets of 5 sent", "sends/s").atLeast(4_000);
    private final Row p99 = trial.row("  latency, p99 (closed loop)", "µs").atMost(60_000);
    private final Row deposits = trial.row("HTTP, deposits", "deposits/s").atLeast(5_000);
    private final Row lives =
            trial.row("HTTP, sent, claimed by five and drained", "packets/s").atLeast(1_500);

    private SendsBench(ServerBed server) throws Exception {
        super(server.bed());
        this.server = server;
        byte[][] backend = HttpCalls.headers(bed.config, List.of(BenchBed.GATEWAY));
        step("sends", this::send);
        step(
                "deposits",
                () -> deposits.add(
                        load(HttpCalls.deposits(backend, SENDERS), CONNECTIONS).donePerSecond()));
        step("whole lives", this::live);
    }

    static void run(Trial trial) throws Exception {
        List<Caller> members = BenchBed.members(SENDERS);
        try (ServerBed server = ServerBed.start(trial, MAX_HEAP_MIB, Map.of(), members)) {
            server.bed().fund(members, BenchBed.CNY);
            new SendsBench(server).run();
        }
    }

    private HttpLoad.Outcome load(HttpLoad.Requests requests, int connections) throws Exception {
        return server.load(connections).run(requests, trial.time(MILLIS)).in(trial);
    }

    private void send() throws Exception {
        HttpLoad.Outcome outcome = load(HttpCalls.sends(server.headers()), CONNECTIONS);
        sends.add(outcome.donePerSecond());
        p99.add(outcome.done.getValueAtPercentile(99));
    }

    private void live() throws Exception {
        double before = bed.number(DRAINED);
        load(HttpCalls.lives(server.headers()), LIFE_CONNECTIONS);
        lives.add((bed.number(DRAINED) - before) * 1_000 / trial.time(MILLIS).toMillis());
    }
}
