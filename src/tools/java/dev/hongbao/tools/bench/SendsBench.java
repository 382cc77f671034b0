package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.server.HongbaoServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What moves money besides claims, over HTTP: packets of five shares that are sent, deposits, and whole lives of packets (sent, claimed
 * by five, drained). The load comes from {@code wrk}, in a closed loop of few connections, as the backends of a chat have.
 */
final class SendsBench {
    private static final int SENDERS = 500;
    private static final int CONNECTIONS = 64;

    /** Each waits for its settlement: five claims of a packet on as many connections. */
    private static final int LIFE_CONNECTIONS = 256;

    private static final int SECONDS = 6;

    /** Of each step of the round that does not count: until the server's code is compiled. */
    private static final int WARM_UP_SECONDS = 15;

    private final Findings findings = new Findings("sends");
    private final Measurement sends = findings.atLeast("HTTP, packets of 5 sent", "sends/s", 4_000);
    private final Measurement p50 = findings.measure("  their latency, p50 (closed loop)", "µs");
    private final Measurement p99 = findings.atMost("  their latency, p99 (closed loop)", "µs", 60_000);
    private final Measurement deposits = findings.atLeast("HTTP, deposits", "deposits/s", 5_000);
    private final Measurement depositP99 = findings.measure("  their latency, p99 (closed loop)", "µs");
    private final Measurement lives = findings.atLeast("HTTP, sent, claimed by five and drained", "packets/s", 1_500);

    private final HongbaoServer server;
    private final BenchBed bed;
    private final Wrk wrk;
    private final Scale scale;
    private final Consumer<String> progress;
    private final Path tokens;
    private final String backend;

    private SendsBench(
            HongbaoServer server,
            BenchBed bed,
            Path files,
            Scale scale,
            Consumer<String> progress,
            List<Caller> members)
            throws Exception {
        this.server = server;
        this.bed = bed;
        this.wrk = new Wrk(files);
        this.scale = scale;
        this.progress = progress;
        Caller service = new Caller(new UserId("backend"), Set.of(), Role.SERVICE, Instant.MAX);
        Path signed = HttpBed.tokens(files.resolve("backend"), bed.config(), List.of(service));
        this.backend = Files.readString(signed).strip();
        this.tokens = HttpBed.tokens(files, bed.config(), members);
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return (scale.rounds() + 1) * 3;
    }

    /** As {@link HttpBench#run}. */
    static Findings run(Path directory, Path results, Scale scale, Consumer<String> progress) throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(directory, Map.of());
        List<Caller> members = BenchPackets.members(SENDERS);
        try (HongbaoServer server = HongbaoServer.start(config);
                BenchBed bed = BenchBed.beside(config)) {
            SendsBench bench = new SendsBench(server, bed, results.resolve("load"), scale, progress, members);
            bench.findings.on(Machine.versions(bed.stores()));
            BenchPackets.fund(bed, members);
            for (int round = 0; round <= scale.rounds(); round++) {
                bench.send(round > 0);
                bench.deposit(round > 0);
                bench.live(round > 0);
                bed.checkBooks(bench.findings);
            }
            return bench.findings;
        }
    }

    private Wrk.Outcome load(Path script, int connections, boolean counts) throws Exception {
        Wrk.Outcome outcome =
                wrk.run(server.port(), script, connections, scale.of(counts ? SECONDS : WARM_UP_SECONDS, 1));
        if (outcome.refused() > 0 || outcome.failed() > 0) {
            findings.fault(String.format(
                    Locale.ROOT, "%,d refused, %,d without an answer", outcome.refused(), outcome.failed()));
        }
        return outcome;
    }

    private void send(boolean counts) throws Exception {
        progress.accept("sends");
        Wrk.Outcome outcome = load(wrk.sends(tokens, BenchPackets.GROUPS, false), CONNECTIONS, counts);
        if (counts) {
            sends.add(outcome.perSecond());
            p50.add(outcome.p50Micros());
            p99.add(outcome.p99Micros());
        }
    }

    private void deposit(boolean counts) throws Exception {
        progress.accept("deposits");
        Wrk.Outcome outcome = load(wrk.deposits(backend, SENDERS), CONNECTIONS, counts);
        if (counts) {
            deposits.add(outcome.perSecond());
            depositP99.add(outcome.p99Micros());
        }
    }

    private void live(boolean counts) throws Exception {
        progress.accept("whole lives");
        long before = drained();
        Wrk.Outcome outcome = load(wrk.sends(tokens, BenchPackets.GROUPS, true), LIFE_CONNECTIONS, counts);
        if (counts) {
            lives.add((drained() - before) * 1e6 / outcome.micros());
        }
    }

    private long drained() throws Exception {
        return BenchBed.await(bed.engine()
                        .pool()
                        .query("select count(*) from packet where closed_at is not null")
                        .execute())
                .iterator()
                .next()
                .getLong(0);
    }
}
