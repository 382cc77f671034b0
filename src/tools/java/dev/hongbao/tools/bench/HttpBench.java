package dev.hongbao.tools.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.tools.bench.Trial.Step;
import dev.hongbao.values.PacketId;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Claims over HTTP, with tokens and checks, against article 1's loop, which has none of that. */
final class HttpBench extends Part {
    private static final int MEMBERS = 20_000;
    private static final int MILLIS = 3_000;
    private static final int CONNECTIONS = 256;

    /** For claims that wait for their settlement, as the members of a large group do. A batch shares the cost of a settlement. */
    private static final int SETTLING_CONNECTIONS = 1_024;

    /** More than the server accepts. */
    private static final int MOST_PER_SECOND = 120_000;

    private static final int MANY_SHARES = 20;

    private final HongbaoServer server;
    private final BenchBed bed;
    private final byte[][] headers;
    private final Row loop = trial.row("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Row accepted = trial.row("HTTP, accepted, one packet, settled afterwards", "claims/s")
            .over(loop)
            .atLeast(1.5);
    private final Row meanwhile = trial.row("HTTP, accepted, one packet, settled meanwhile", "claims/s")
            .over(loop);
    private final Row settled =
            trial.row("HTTP, settled, one packet", "claims/s").over(loop).atLeast(0.75);
    private final Row p50 = trial.row("  latency, p50 (closed loop)", "µs");
    private final Row p99 = trial.row("  latency, p99 (closed loop)", "µs");
    private final Row many =
            trial.row("HTTP, settled, 10,000 packets", "claims/s").over(settled).atLeast(0.55);
    private final Row constant = trial.row("HTTP, a constant answer", "answers/s");
    private final Row drained =
            trial.row("HTTP, a drained packet", "answers/s").over(constant).atLeast(0.85);

    private HttpBench(Trial trial, HongbaoServer server, BenchBed bed) throws Exception {
        super(trial);
        this.server = server;
        this.bed = bed;
        headers = HttpCalls.headers(bed.config, BenchBed.members(MEMBERS));
    }

    static void run(Trial trial) throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(trial.directory, Map.of());
        try (HongbaoServer server = HongbaoServer.start(config);
                BenchBed bed = BenchBed.beside(trial, config)) {
            bed.fund();
            HttpBench bench = new HttpBench(trial, server, bed);
            trial.rounds(
                    bed::checkBooks,
                    new Step("article 1", bench::article1),
                    new Step("accepted", bench::accepted),
                    new Step("accepted, settled meanwhile", bench::acceptedMeanwhile),
                    new Step("settled", bench::settled),
                    new Step("settled, many packets", bench::settledOnMany),
                    new Step("drained", bench::drained));
        }
    }

    private void article1() throws Exception {
        loop.add(BaselineBench.article1(bed.stores(), trial.size(100_000, 1_000)));
    }

    private HttpLoad.Outcome answers(HttpLoad.Requests requests, int connections) throws Exception {
        return new HttpLoad(List.of(server.port()), connections).run(requests, trial.time(MILLIS));
    }

    private HttpLoad.Outcome claim(HttpLoad.Requests requests, int connections) throws Exception {
        HttpLoad.Outcome outcome = answers(requests, connections);
        trial.loadFault(outcome.troubles());
        return outcome;
    }

    /** On one packet after the other. */
    private HttpLoad.Outcome claim(boolean async) throws Exception {
        return claim(
                ServerBed.claims(bed, headers, MOST_PER_SECOND, trial.time(MILLIS), async),
                async ? CONNECTIONS : SETTLING_CONNECTIONS);
    }

    /** A burst. The time for the settlement of the journal does not count. */
    private void accepted() throws Exception {
        BenchBed.await(server.engine().stopWriter());
        try {
            accepted.add(claim(true).donePerSecond());
        } finally {
            BenchBed.await(server.engine().startWriter());
        }
        bed.awaitSettled();
    }

    private void acceptedMeanwhile() throws Exception {
        meanwhile.add(claim(true).donePerSecond());
        bed.awaitSettled();
    }

    private void settled() throws Exception {
        HttpLoad.Outcome outcome = claim(false);
        settled.add(outcome.donePerSecond());
        p50.add(outcome.done.getValueAtPercentile(50));
        p99.add(outcome.done.getValueAtPercentile(99));
    }

    private void settledOnMany() throws Exception {
        List<PacketId> packets = bed.send(trial.size(10_000, 4_000), MANY_SHARES);
        many.add(claim(HttpCalls.across(headers, packets, MANY_SHARES), SETTLING_CONNECTIONS)
                .donePerSecond());
    }

    /** The first claims drain the packet. */
    private void drained() throws Exception {
        HttpLoad.Requests claims =
                HttpCalls.same(headers, "POST /v1/packets/" + bed.send(1, 10).get(0) + "/claims");
        new HttpLoad(List.of(server.port()), CONNECTIONS).run(claims, Duration.ofSeconds(1));
        drained.add(answers(claims, CONNECTIONS).answersPerSecond());
        constant.add(answers(HttpCalls.same(headers, "GET /no-such-path"), CONNECTIONS)
                .answersPerSecond());
    }
}
