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

    /** The other server's connections to each store: Postgres has 64 for both servers. */
    private static final int LOCKING = 16;

    /** More than the server accepts. */
    private static final int MOST_PER_SECOND = 120_000;

    private static final int MANY_SHARES = 20;

    private final HongbaoServer server;
    private final LockingServer other;
    private final BenchBed bed;
    private final byte[][] headers;
    private final Row loop = trial.row("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Row locked = trial.row("HTTP, lock and transaction a claim, one packet", "claims/s");
    private final Row lockedP99 = trial.row("  latency, p99 (closed loop)", "µs");
    private final Row lockedMany = trial.row("HTTP, lock and transaction a claim, 10,000 packets", "claims/s");
    private final Row accepted = trial.row("HTTP, accepted, one packet, settled afterwards", "claims/s")
            .over(loop)
            .atLeast(1.5);
    private final Row meanwhile = trial.row("HTTP, accepted, one packet, settled meanwhile", "claims/s")
            .over(loop);
    private final Row settled =
            trial.row("HTTP, settled, one packet", "claims/s").over(loop).atLeast(0.75);
    private final Row times = trial.row("  times lock and transaction", "×");
    private final Row p50 = trial.row("  latency, p50 (closed loop)", "µs");
    private final Row p99 = trial.row("  latency, p99 (closed loop)", "µs");
    private final Row many =
            trial.row("HTTP, settled, 10,000 packets", "claims/s").over(settled).atLeast(0.55);
    private final Row timesMany = trial.row("  times lock and transaction", "×");
    private final Row constant = trial.row("HTTP, a constant answer", "answers/s");
    private final Row drained =
            trial.row("HTTP, a drained packet", "answers/s").over(constant).atLeast(0.85);

    private HttpBench(Trial trial, HongbaoServer server, LockingServer other, BenchBed bed) throws Exception {
        super(trial);
        this.server = server;
        this.other = other;
        this.bed = bed;
        headers = HttpCalls.headers(bed.config, BenchBed.members(MEMBERS));
    }

    static void run(Trial trial) throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(trial.directory, Map.of());
        try (HongbaoServer server = HongbaoServer.start(config);
                BenchBed bed = BenchBed.beside(trial, config);
                LockingServer other = new LockingServer(config, bed.stores(), LOCKING)) {
            bed.fund();
            HttpBench bench = new HttpBench(trial, server, other, bed);
            trial.rounds(
                    bench::checkBooks,
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

    private void checkBooks() throws Exception {
        bed.checkBooks();
        String wrong = other.wrong();
        if (!wrong.isEmpty()) {
            trial.fault(wrong);
        }
    }

    private HttpLoad.Outcome answers(int port, HttpLoad.Requests requests, int connections) throws Exception {
        return new HttpLoad(List.of(port), connections).run(requests, trial.time(MILLIS));
    }

    private HttpLoad.Outcome claim(int port, HttpLoad.Requests requests, int connections) throws Exception {
        HttpLoad.Outcome outcome = answers(port, requests, connections);
        trial.loadFault(outcome.troubles());
        return outcome;
    }

    /** On one packet after the other. */
    private HttpLoad.Outcome claim(boolean async) throws Exception {
        return claim(
                server.port(),
                ServerBed.claims(bed, headers, MOST_PER_SECOND, trial.time(MILLIS), async),
                async ? CONNECTIONS : SETTLING_CONNECTIONS);
    }

    /** A burst. The time for the settlement of the journal does not count. */
    private void accepted() throws Exception {
        BenchBed.await(server.engine().stopWriter());
        try {
            accepted.add(claim(true).speed());
        } finally {
            BenchBed.await(server.engine().startWriter());
        }
        bed.awaitSettled();
    }

    private void acceptedMeanwhile() throws Exception {
        meanwhile.add(claim(true).speed());
        bed.awaitSettled();
    }

    private void settled() throws Exception {
        HttpLoad.Outcome outcome = claim(false);
        settled.add(outcome.speed());
        p50.add(outcome.done.getValueAtPercentile(50));
        p99.add(outcome.done.getValueAtPercentile(99));
        HttpLoad.Outcome theirs =
                claim(other.port(), HttpCalls.inTurn(headers, other.send(1, MEMBERS), false), SETTLING_CONNECTIONS);
        locked.add(theirs.speed());
        lockedP99.add(theirs.done.getValueAtPercentile(99));
        times.add(outcome.donePerSecond() / theirs.donePerSecond());
    }

    private void settledOnMany() throws Exception {
        Speed ours = many(server.port(), bed.send(trial.size(10_000, 4_000), MANY_SHARES));
        Speed theirs = many(other.port(), other.send(trial.size(10_000, 4_000), MANY_SHARES));
        many.add(ours);
        lockedMany.add(theirs);
        timesMany.add(ours.perSecond() / theirs.perSecond());
    }

    private Speed many(int port, List<PacketId> packets) throws Exception {
        return claim(port, HttpCalls.across(headers, packets, MANY_SHARES), SETTLING_CONNECTIONS)
                .speed();
    }

    /** The first claims drain the packet. */
    private void drained() throws Exception {
        HttpLoad.Requests claims =
                HttpCalls.same(headers, "POST /v1/packets/" + bed.send(1, 10).get(0) + "/claims");
        new HttpLoad(List.of(server.port()), CONNECTIONS).run(claims, Duration.ofSeconds(1));
        drained.add(answers(server.port(), claims, CONNECTIONS).answersPerSecond());
        constant.add(answers(server.port(), HttpCalls.same(headers, "GET /no-such-path"), CONNECTIONS)
                .answersPerSecond());
    }
}
