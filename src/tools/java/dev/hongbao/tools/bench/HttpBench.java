package dev.hongbao.tools.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.time.Duration;
import java.util.ArrayList;
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
    private static final int CLAIMS_OF_A_CALL = 100;

    /** As few as a gateway has. */
    private static final int GATEWAY_CONNECTIONS = 16;

    private final HongbaoServer server;
    private final List<Caller> members = BenchBed.members(MEMBERS);
    private final byte[][] headers;
    private final byte[] backend;
    private final Row loop = trial.row("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Row accepted = trial.row("HTTP, accepted, one packet, settled afterwards", "claims/s")
            .over(loop)
            .atLeast(1.5);
    private final Row meanwhile = trial.row("HTTP, accepted, one packet, settled meanwhile", "claims/s")
            .over(loop);
    private final Row behind =
            trial.row("  the settlement of the last one", "ms later").atMost(1_000);
    private final Row settled =
            trial.row("HTTP, settled, one packet", "claims/s").over(loop).atLeast(0.75);
    private final Row batched = trial.row("HTTP, settled, one packet, 100 claims a call of the backend", "claims/s")
            .over(loop)
            .atLeast(1.5);
    private final Row batchedP99 =
            trial.row("  latency of a call, p99 (closed loop)", "µs").atMost(80_000);
    private final Row many =
            trial.row("HTTP, settled, 10,000 packets", "claims/s").over(settled).atLeast(0.55);
    private final Row constant = trial.row("HTTP, a constant answer", "answers/s");
    private final Row drained =
            trial.row("HTTP, a drained packet", "answers/s").over(constant).atLeast(0.85);

    private HttpBench(HongbaoServer server, BenchBed bed) throws Exception {
        super(bed);
        this.server = server;
        headers = HttpCalls.headers(bed.config, members);
        backend = HttpCalls.headers(bed.config, List.of(BenchBed.GATEWAY))[0];
        step("article 1", () -> loop.add(ArticleLoops.article1(bed.stores(), trial.size(100_000, 1_000))));
        step("accepted", this::accepted);
        step("accepted, settled meanwhile", () -> {
            meanwhile.add(claim(true).donePerSecond());
            long accepted = System.nanoTime();
            bed.awaitSettled();
            behind.add((System.nanoTime() - accepted) / 1e6);
        });
        step("settled", () -> settled.add(claim(false).donePerSecond()));
        step("settled, in batches", this::settledInBatches);
        step("settled, many packets", this::settledOnMany);
        step("drained", this::drained);
    }

    static void run(Trial trial) throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(trial.directory, Map.of());
        try (HongbaoServer server = HongbaoServer.start(config);
                BenchBed bed = BenchBed.beside(trial, config)) {
            bed.fund();
            new HttpBench(server, bed).run();
        }
    }

    private HttpLoad.Outcome answers(HttpLoad.Requests requests, int connections) throws Exception {
        return new HttpLoad(List.of(server.port()), connections).run(requests, trial.time(MILLIS));
    }

    /** On one packet after the other. */
    private HttpLoad.Outcome claim(boolean async) throws Exception {
        var claims = ServerBed.claims(bed, headers, MOST_PER_SECOND, trial.time(MILLIS), async);
        return answers(claims, async ? CONNECTIONS : SETTLING_CONNECTIONS).in(trial);
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

    private void settledInBatches() throws Exception {
        List<PacketId> packets = new ArrayList<>();
        for (int i = 0; i <= MOST_PER_SECOND * trial.time(MILLIS).toSeconds() / MEMBERS; i++) {
            packets.addAll(bed.send(1, MEMBERS));
        }
        var calls = new HttpCalls.Batches(backend, members, BenchBed.GROUPS.get(0), packets, CLAIMS_OF_A_CALL);
        HttpLoad.Outcome outcome = answers(calls, GATEWAY_CONNECTIONS).in(trial);
        trial.loadFault(calls.troubles());
        batched.add(outcome.donePerSecond() * CLAIMS_OF_A_CALL);
        batchedP99.add(outcome.done.getValueAtPercentile(99));
    }

    private void settledOnMany() throws Exception {
        int packets = trial.size(10_000, 4_000);
        var claims = HttpCalls.across(headers, bed.send(packets, MANY_SHARES), MANY_SHARES);
        many.add(answers(claims, SETTLING_CONNECTIONS).in(trial).donePerSecond());
    }

    /** The first claims drain the packet. */
    private void drained() throws Exception {
        var claims =
                HttpCalls.same(headers, "POST /v1/packets/" + bed.send(1, 10).get(0) + "/claims");
        new HttpLoad(List.of(server.port()), CONNECTIONS).run(claims, Duration.ofSeconds(1));
        drained.add(answers(claims, CONNECTIONS).answersPerSecond());
        var unknown = HttpCalls.same(headers, "GET /no-such-path");
        constant.add(answers(unknown, CONNECTIONS).answersPerSecond());
    }
}
