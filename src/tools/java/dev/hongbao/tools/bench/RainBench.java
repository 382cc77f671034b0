package dev.hongbao.tools.bench;

import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.local.ChildServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A rain, over HTTP, in an open loop, on a packet that opens then and has a share for each: once everybody taps at one moment, which is
 * the worst that can come; and once each at a random one of the seconds that the server names, as its own clients do.
 * Beside it, in the same run and by the same generator, as many as the server can settle in a closed loop. The server is a process of
 * its own; the load and the stores are on the same cores, and it is told what each took of them.
 */
final class RainBench {
    private static final int USERS = 50_000;
    private static final int MAX_HEAP_MIB = 512;

    /** Of the closed loop, to find what the server can do. */
    private static final int CAPACITY_CONNECTIONS = 1_024;

    /** The proxy's connections: as many as claims may wait in a server hold one each, and the others go through the rest. */
    private static final int CONNECTIONS = 12_000;

    /** In which all tap. */
    private static final Duration MOMENT = Duration.ofMillis(250);

    /** In which our clients spread the first tap of as many: see {@code RainDefinition.Fall#firstTapWithinMillis}. */
    private static final int NAMED_TAPS_A_MILLI = 10;

    /** From the sending of the packet to the moment it opens. */
    private static final Duration AHEAD = Duration.ofSeconds(2);

    /** A hundredth of a second after it: Postgres' clock is known that well here. */
    private static final Duration AFTER = Duration.ofMillis(10);

    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final double MAX_GROWTH_MIB = 16;
    private static final double MIB = 1024 * 1024;
    private static final String UNKNOWN = "hongbao_claim_outcomes_total{outcome=\"unknown\"}";

    private final Findings findings = new Findings("rain");
    private final Measurement capacity = findings.measure("settled, as many as it can (closed loop)", "claims/s");
    private final Measurement settled =
            findings.measure("settled in the rain, until its last", "claims/s", capacity, 0.9);
    private final Measurement settledP99 = findings.measure("  their latency since the tap was sent, p99", "µs");
    private final Measurement caught = findings.measure("  of all who tapped", "%");
    private final Measurement refusals = findings.measure("refused with 503, while all tapped", "answers/s");
    private final Measurement refusedP50 = findings.measure("  their latency once sent, p50", "µs");
    private final Measurement refusedP99 = findings.atMost("  their latency once sent, p99", "µs", 50_000);
    private final Measurement loadCpu = findings.measure("of the cores, until the last was settled: the load", "%");
    private final Measurement serverCpu = findings.measure("  the server", "%");
    private final Measurement storesCpu = findings.measure("  Postgres and Redis", "%");
    private final Measurement growth =
            findings.atMost("heap after a collection, after the rain over before", "MiB", MAX_GROWTH_MIB);

    private final Measurement spreadCaught =
            findings.measure("spread as the server names it: settled of all who tapped", "%");
    private final Measurement spreadP50 = findings.measure("  their latency since the tap was due, p50", "µs");
    private final Measurement spreadP99 = findings.measure("  their latency since the tap was due, p99", "µs");

    private final ChildServer server;
    private final BenchBed bed;
    private final Scale scale;
    private final Consumer<String> progress;
    private final byte[][] headers;

    private RainBench(ChildServer server, BenchBed bed, Scale scale, Consumer<String> progress) throws IOException {
        this.server = server;
        this.bed = bed;
        this.scale = scale;
        this.progress = progress;
        this.headers = HttpClaims.headers(server.config(), BenchPackets.members(scale.of(USERS, 1_000)));
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 1 + Capacity.WARM_UPS + 3 * scale.rounds();
    }

    /** As {@link OverloadBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        progress.accept("server");
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, Map.of())) {
            try (BenchBed bed = BenchBed.beside(server.config())) {
                RainBench bench = new RainBench(server, bed, scale, progress);
                bench.findings.on(Machine.versions(bed.stores()));
                BenchPackets.fund(bed);
                for (int warmUp = 0; warmUp < Capacity.WARM_UPS; warmUp++) {
                    progress.accept("capacity");
                    Capacity.warmUp(server, bed, bench.headers, CAPACITY_CONNECTIONS, scale);
                }
                for (int round = 1; round <= scale.rounds(); round++) {
                    bench.round(round == scale.rounds());
                }
                return bench.findings;
            }
        }
    }

    private void round(boolean last) throws Exception {
        double perSecond = capacity();
        capacity.add(perSecond);
        progress.accept("rain");
        long heap = server.heapBytes();
        HttpClaims taps = taps();
        double unknown = unknown(); // after those that the closed loop left behind
        OpenLoop.Load load = load(MOMENT);
        List<Cpu> before = new ArrayList<>();
        OpenLoop.Outcome outcome = OpenLoop.once(load, taps, () -> before.add(cpu()));
        measure(outcome);
        measure(before.get(0), cpu(), outcome);
        if (unknown() > unknown) {
            findings.fault((unknown() - unknown) + " who were let in waited in vain");
        }
        growth.add((server.heapBytes() - heap) / MIB);
        if (last) {
            plot(perSecond, outcome);
        }
        progress.accept("rain, spread");
        spread(OpenLoop.once(load(Duration.ofMillis(headers.length / NAMED_TAPS_A_MILLI)), taps(), () -> {}));
        bed.checkBooks(findings);
    }

    /** All of them tap within a time. */
    private OpenLoop.Load load(Duration within) {
        return new OpenLoop.Load(
                List.of(server.port()),
                Math.min(headers.length, CONNECTIONS),
                headers.length / (within.toNanos() / 1e9),
                Duration.ZERO,
                LONGEST,
                PATIENCE);
    }

    private void spread(OpenLoop.Outcome outcome) {
        spreadCaught.add(100.0 * outcome.claimed.getTotalCount() / headers.length);
        spreadP50.add(outcome.claimed.getValueAtPercentile(50));
        spreadP99.add(outcome.claimed.getValueAtPercentile(99));
    }

    /** Microseconds that each has had of the cores. */
    private record Cpu(long load, long server, long stores) {}

    private Cpu cpu() {
        try {
            long ofServer = ProcessCpu.ownMicros(server.pid());
            return new Cpu(ProcessCpu.ownMicros(), ofServer, ProcessCpu.micros(server.pid()) - ofServer);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    /** The little that is done after the last claim is in it too. */
    private void measure(Cpu before, Cpu after, OpenLoop.Outcome outcome) {
        double all = outcome.lastClaimNanos / 1e3 * Runtime.getRuntime().availableProcessors() / 100;
        loadCpu.add((after.load - before.load) / all);
        serverCpu.add((after.server - before.server) / all);
        storesCpu.add((after.stores - before.stores) / all);
    }

    private double unknown() throws IOException, InterruptedException {
        return ServerNumbers.of(server.managementPort()).sum(UNKNOWN);
    }

    /** One packet with a share for each, sent by an engine of this process, beside the server. Returns when it is open. */
    private HttpClaims taps() throws Exception {
        Instant opens = bed.engine().clock().instant().plus(AHEAD);
        List<PacketId> sent = BenchPackets.send(bed, 1, headers.length, opens);
        long left = Duration.between(bed.engine().clock().instant(), opens.plus(AFTER))
                .toMillis();
        TimeUnit.MILLISECONDS.sleep(Math.max(0, left));
        return HttpClaims.inTurn(headers, sent);
    }

    private double capacity() throws Exception {
        progress.accept("capacity");
        return Capacity.of(server, bed, headers, CAPACITY_CONNECTIONS, scale);
    }

    private void measure(OpenLoop.Outcome outcome) {
        settled.add(outcome.claimed.getTotalCount() * 1e9 / outcome.lastClaimNanos);
        settledP99.add(outcome.claimedOnceSent.getValueAtPercentile(99));
        caught.add(100.0 * outcome.claimed.getTotalCount() / headers.length);
        refusals.add(outcome.refused.getTotalCount() * 1e9 / outcome.lastClaimNanos);
        refusedP50.add(outcome.refusedOnceSent.getValueAtPercentile(50));
        refusedP99.add(outcome.refusedOnceSent.getValueAtPercentile(99));
        long answered = outcome.claimed.getTotalCount() + outcome.refused.getTotalCount();
        if (answered < headers.length || outcome.withoutRetryAfter > 0) {
            findings.fault(headers.length - answered + " taps with neither a claim nor 503, "
                    + outcome.withoutRetryAfter + " refusals without Retry-After; of the taps " + outcome.troubles()
                    + ", " + outcome.unsent + " were not sent");
        }
    }

    private void plot(double perSecond, OpenLoop.Outcome outcome) {
        List<Exhibits.Point> answers = outcome.claims.perSecond();
        Exhibits exhibits = findings.exhibits();
        exhibits.add(new Plot(
                headers.length + " users tap at one moment: answers a second",
                "seconds",
                Axis.LINEAR,
                "a second",
                Axis.LINEAR,
                List.of(
                        new Line(
                                "can do",
                                answers.stream()
                                        .map(point -> new Exhibits.Point(point.x(), perSecond))
                                        .toList()),
                        new Line("settled", answers),
                        new Line("refused with 503", outcome.refusals.perSecond()))));
        exhibits.add(Percentiles.plot(
                headers.length + " users tap at one moment: time since each tap was sent",
                List.of(
                        Percentiles.line("settled", outcome.claimedOnceSent),
                        Percentiles.line("refused with 503", outcome.refusedOnceSent))));
    }
}
