package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.server.HongbaoServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The whole server over HTTP, with tokens and checks, against article 1's loop, which does without all of it. */
final class HttpBench {
    private static final int BASELINE_CLAIMS = 100_000;
    private static final int MEMBERS = 20_000;
    private static final int SECONDS = 3;

    /** Of each step of the round that does not count: a server's code is compiled after half a minute under load. */
    private static final int WARM_UP_SECONDS = 5;

    private static final int CONNECTIONS = 256;

    /** Where each waits until it is settled, as the members of a large group do: what a settlement costs is shared by its batch. */
    private static final int SETTLING_CONNECTIONS = 1_024;

    private static final int HOT_PACKETS = 16;
    private static final int MANY = 10_000;
    private static final int MANY_SHARES = 20;
    private static final double MANY_WITHIN = 0.55;

    private final Findings findings = new Findings("http");
    private final Measurement baseline = findings.measure("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Measurement accepted =
            findings.measure("HTTP, accepted, hot (journal settled afterwards)", "claims/s", baseline, 1.5);
    private final Measurement acceptedSettling =
            findings.measure("HTTP, accepted, hot, settled meanwhile", "claims/s", baseline, 0);
    private final Measurement settled = findings.measure("HTTP, settled, hot", "claims/s", baseline, 0.75);
    private final Measurement p50 = findings.measure("  its latency, p50 (closed loop)", "µs");
    private final Measurement p99 = findings.measure("  its latency, p99 (closed loop)", "µs");
    private final Measurement many;
    private final Measurement constant = findings.measure("HTTP, a constant answer", "answers/s");
    private final Measurement drained = findings.measure("HTTP, drained packet", "answers/s", constant, 0.85);

    private final HongbaoConfig config;
    private final HongbaoServer server;
    private final Wrk wrk;
    private final Path files;
    private final Scale scale;
    private final Consumer<String> progress;
    private final Path tokens;

    private HttpBench(HongbaoConfig config, HongbaoServer server, Path files, Scale scale, Consumer<String> progress)
            throws Exception {
        this.config = config;
        this.server = server;
        this.wrk = new Wrk(files);
        this.files = files;
        this.scale = scale;
        this.many = findings.measure(
                String.format(Locale.ROOT, "HTTP, settled, %,d packets", scale.of(MANY, 100)),
                "claims/s",
                settled,
                MANY_WITHIN);
        this.progress = progress;
        this.tokens = HttpBed.tokens(files, config, BenchPackets.members(MEMBERS));
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return (scale.rounds() + 1) * 6;
    }

    /** As {@link ClaimsBench#run}; the load's files go to {@code results}. */
    static Findings run(Path directory, Path results, Scale scale, Consumer<String> progress) throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(directory, Map.of());
        try (HongbaoServer server = HongbaoServer.start(config)) {
            HttpBench bench = new HttpBench(config, server, results.resolve("load"), scale, progress);
            try (BenchBed bed = BenchBed.beside(config)) {
                bench.findings.on(Machine.versions(bed.stores()));
                BenchPackets.fund(bed);
            }
            for (int round = 0; round <= scale.rounds(); round++) {
                bench.round(round);
            }
            return bench.findings;
        }
    }

    private interface Step {
        void run(BenchBed bed, boolean counts) throws Exception;
    }

    private void round(int round) throws Exception {
        List<Step> steps = new ArrayList<>(List.of(
                this::article1,
                this::accepted,
                this::acceptedSettling,
                this::settled,
                this::settledMany,
                this::refused));
        if (round % 2 == 1) {
            Collections.reverse(steps);
        }
        try (BenchBed bed = BenchBed.beside(config)) {
            for (Step step : steps) {
                step.run(bed, round > 0);
            }
            bed.checkBooks(findings);
        }
    }

    private void article1(BenchBed bed, boolean counts) throws Exception {
        progress.accept("article 1");
        double perSecond =
                BaselineBench.article1(bed.stores(), (counts ? scale : scale.warmUp()).of(BASELINE_CLAIMS, 1_000));
        if (counts) {
            baseline.add(perSecond);
        }
    }

    private int seconds(boolean counts) {
        return scale.of(counts ? SECONDS : WARM_UP_SECONDS, 1);
    }

    /** Claims by everybody on new packets. */
    private Wrk.Outcome claim(BenchBed bed, int packets, int shares, boolean async, boolean counts) throws Exception {
        List<PacketId> ids = BenchPackets.send(bed, packets, shares);
        Path script = wrk.claims(tokens, HttpBed.packets(files, ids), async);
        Wrk.Outcome outcome =
                wrk.run(server.port(), script, async ? CONNECTIONS : SETTLING_CONNECTIONS, seconds(counts));
        if (outcome.refused() > 0 || outcome.failed() > 0) {
            findings.fault(outcome.refused() + " claims refused, " + outcome.failed() + " without an answer");
        }
        return outcome;
    }

    private void claimHot(BenchBed bed, boolean async, boolean counts, Measurement... measured) throws Exception {
        Wrk.Outcome outcome = claim(bed, HOT_PACKETS, MEMBERS, async, counts);
        double[] values = {outcome.perSecond(), outcome.p50Micros(), outcome.p99Micros()};
        for (int i = 0; counts && i < measured.length; i++) {
            measured[i].add(values[i]);
        }
    }

    /** A burst: what it leaves in the journal is settled, and the time for that is not counted. */
    private void accepted(BenchBed bed, boolean counts) throws Exception {
        progress.accept("accepted");
        BenchBed.await(server.engine().stopWriter());
        try {
            claimHot(bed, true, counts, accepted);
        } finally {
            BenchBed.await(server.engine().startWriter());
        }
        Journals.awaitEmpty(bed.stores().redisUrl());
    }

    private void acceptedSettling(BenchBed bed, boolean counts) throws Exception {
        progress.accept("accepted, settled meanwhile");
        claimHot(bed, true, counts, acceptedSettling);
        Journals.awaitEmpty(bed.stores().redisUrl());
    }

    private void settled(BenchBed bed, boolean counts) throws Exception {
        progress.accept("settled");
        claimHot(bed, false, counts, settled, p50, p99);
    }

    private void settledMany(BenchBed bed, boolean counts) throws Exception {
        progress.accept("settled, many packets");
        Wrk.Outcome outcome = claim(bed, scale.of(MANY, 100), MANY_SHARES, false, counts);
        if (counts) {
            many.add(outcome.perSecond());
        }
    }

    /** The packet is drained by the first of those who ask. */
    private void refused(BenchBed bed, boolean counts) throws Exception {
        progress.accept("drained");
        List<PacketId> ids = BenchPackets.send(bed, 1, 10);
        Path script = wrk.claims(tokens, HttpBed.packets(files, ids), false);
        wrk.run(server.port(), script, CONNECTIONS, 1);
        Wrk.Outcome late = wrk.run(server.port(), script, CONNECTIONS, seconds(counts));
        Wrk.Outcome same = wrk.run(server.port(), wrk.constant(tokens, "/no-such-path"), CONNECTIONS, seconds(counts));
        if (counts) {
            drained.add(late.perSecond());
            constant.add(same.perSecond());
        }
    }
}
