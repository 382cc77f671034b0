package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.bench.Exhibits.Point;
import dev.hongbao.tools.local.ChildServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Half of what the server can do, and twice as much, over HTTP, in an open loop, each claim answered when settled. At half it is to
 * answer soon; at twice to keep its throughput, to send the excess away at once, and not to grow. The server is a process of its
 * own; the load is on the same cores.
 */
final class OverloadBench {
    private static final int MEMBERS = 20_000;
    private static final int MAX_HEAP_MIB = 512;

    /** Closed loop, to find what the server can do. */
    private static final int CAPACITY_CONNECTIONS = 256;

    /**
     * {@code claim.max-waiting}: less than by default, so that what is refused needs no more connections than the one thread that
     * makes the load can serve.
     */
    private static final int MAX_WAITING = 2_000;

    /** To what the server lets wait: so that the excess reaches it. */
    private static final double CONNECTIONS = 1.3;

    private static final int LENGTH_MILLIS = 8_000;
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final double MAX_GROWTH_MIB = 32;
    private static final double MIB = 1024 * 1024;

    private final Findings findings = new Findings("overload");
    private final Measurement capacity = findings.measure("settled, as many as it can (closed loop)", "claims/s");
    private final Measurement halfP50 = findings.measure("settled at half of that, p50", "µs");
    private final Measurement halfP99 = findings.atMost("settled at half of that, p99", "µs", 25_000);
    private final Measurement halfP999 = findings.measure("settled at half of that, p99.9", "µs");
    private final Measurement kept = findings.measure("settled, offered twice as many", "claims/s", capacity, 0.8);
    private final Measurement settledP99 = findings.measure("  their latency, p99", "µs");
    private final Measurement refusals = findings.measure("refused with 503", "answers/s");
    private final Measurement refusedShare = findings.measure("  of those that were due", "%");
    private final Measurement refusedP50 = findings.measure("  their latency once sent, p50", "µs");
    private final Measurement refusedP99 = findings.measure("  their latency once sent, p99", "µs");
    private final Measurement unsent = findings.measure("due, but all connections were busy", "claims");
    private final Measurement growth =
            findings.atMost("heap after collections, last third over first", "MiB", MAX_GROWTH_MIB);
    private final Measurement waiting = findings.measure("claims waiting in the server, the most seen", "claims");

    private final ChildServer server;
    private final BenchBed bed;
    private final int maxWaiting;
    private final Scale scale;
    private final Consumer<String> progress;
    private final byte[][] headers;

    private OverloadBench(ChildServer server, BenchBed bed, Scale scale, Consumer<String> progress) throws IOException {
        this.server = server;
        this.bed = bed;
        this.maxWaiting = maxWaiting(scale);
        this.scale = scale;
        this.progress = progress;
        this.headers = HttpClaims.headers(server.config(), BenchPackets.members(scale.of(MEMBERS, 1_000)));
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 1 + Capacity.WARM_UPS + 3 * scale.rounds();
    }

    private static int maxWaiting(Scale scale) {
        return scale.of(MAX_WAITING, 1);
    }

    private static Map<String, String> options(Scale scale) {
        return Map.of("claim.max-waiting", Integer.toString(maxWaiting(scale)));
    }

    /** As {@link ClaimsBench#run}; its capacity is found some times before it counts, which warms up. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        progress.accept("server");
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, options(scale))) {
            try (BenchBed bed = BenchBed.beside(server.config())) {
                OverloadBench bench = new OverloadBench(server, bed, scale, progress);
                bench.findings.on(Machine.versions(bed.stores()));
                BenchPackets.fund(bed);
                for (int warmUp = 0; warmUp < Capacity.WARM_UPS; warmUp++) {
                    bench.capacity();
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
        half(perSecond, last);
        progress.accept("overload");
        Duration length = Duration.ofMillis(scale.millis(LENGTH_MILLIS));
        OpenLoop.Load load = new OpenLoop.Load(
                List.of(server.port()),
                (int) (maxWaiting * CONNECTIONS),
                perSecond * 2,
                length.dividedBy(4),
                length,
                PATIENCE);
        HttpClaims claims = Capacity.claims(bed, headers, load);
        OpenLoop.Outcome outcome;
        ServerWatch watch = ServerWatch.start(server);
        try (watch) {
            outcome = OpenLoop.run(load, claims, 0);
        }
        measure(load, outcome, watch.looks());
        if (last) {
            plot(perSecond, outcome, watch.looks());
        }
        bed.checkBooks(findings);
    }

    /** At a rate that leaves room, counted from when each claim was due. */
    private void half(double perSecond, boolean last) throws Exception {
        progress.accept("half");
        Duration length = Duration.ofMillis(scale.millis(LENGTH_MILLIS));
        OpenLoop.Load load = new OpenLoop.Load(
                List.of(server.port()),
                Math.min(CAPACITY_CONNECTIONS, maxWaiting / 2),
                perSecond / 2,
                length.dividedBy(4),
                length,
                PATIENCE);
        OpenLoop.Outcome outcome = OpenLoop.run(load, Capacity.claims(bed, headers, load), 0);
        if (!outcome.troubles().isEmpty()) {
            findings.fault("at half of what it can do " + outcome.troubles());
        }
        halfP50.add(outcome.claimed.getValueAtPercentile(50));
        halfP99.add(outcome.claimed.getValueAtPercentile(99));
        halfP999.add(outcome.claimed.getValueAtPercentile(99.9));
        if (last) {
            findings.exhibits()
                    .add(Percentiles.plot(
                            "Offered half of what it can do: time since each claim was due",
                            List.of(Percentiles.line("settled", outcome.claimed))));
        }
    }

    private double capacity() throws Exception {
        progress.accept("capacity");
        return Capacity.of(server, bed, headers, Math.min(CAPACITY_CONNECTIONS, maxWaiting / 2), scale);
    }

    private void measure(OpenLoop.Load load, OpenLoop.Outcome outcome, List<ServerWatch.Look> looks) {
        long from = load.warmUp().toNanos();
        long until = from + load.length().toNanos();
        double seconds = load.length().toNanos() / 1e9;
        kept.add(outcome.claims.count(from, until) / seconds);
        refusals.add(outcome.refusals.count(from, until) / seconds);
        refusedShare.add(100.0 * outcome.refusals.count(from, until) / outcome.due.count(from, until));
        settledP99.add(outcome.claimed.getValueAtPercentile(99));
        refusedP50.add(outcome.refusedOnceSent.getValueAtPercentile(50));
        refusedP99.add(outcome.refusedOnceSent.getValueAtPercentile(99));
        unsent.add(outcome.unsent);
        waiting.add(looks.stream().mapToDouble(ServerWatch.Look::waiting).max().orElse(0));
        List<Point> heap = ServerWatch.points(
                looks, outcome.begunNanos + from, look -> look.heap().afterCollection());
        growth.add((mean(heap, 2) - mean(heap, 0)) / MIB);
        if (outcome.withoutRetryAfter > 0 || outcome.others > 0 || outcome.broken > 0) {
            findings.fault(outcome.withoutRetryAfter + " refusals without Retry-After, " + outcome.others
                    + " other answers, " + outcome.broken + " broken connections");
        }
        if (outcome.unanswered > 0) {
            findings.fault(outcome.unanswered + " claims of the load had no answer in the end");
        }
    }

    /** Of one third of the points, 0 to 2. */
    private static double mean(List<Point> points, int third) {
        int size = points.size();
        return points.subList(size * third / 3, size * (third + 1) / 3).stream()
                .mapToDouble(Point::y)
                .average()
                .orElse(0);
    }

    private void plot(double perSecond, OpenLoop.Outcome outcome, List<ServerWatch.Look> looks) {
        List<Point> offered = outcome.due.perSecond();
        List<Point> can =
                offered.stream().map(point -> new Point(point.x(), perSecond)).toList();
        Exhibits exhibits = findings.exhibits();
        exhibits.add(new Plot(
                "Offered twice what it can do: answers a second",
                "seconds",
                Axis.LINEAR,
                "a second",
                Axis.LINEAR,
                List.of(
                        new Line("offered", offered),
                        new Line("can do", can),
                        new Line("settled", outcome.claims.perSecond()),
                        new Line("refused with 503", outcome.refusals.perSecond()))));
        exhibits.add(Percentiles.plot(
                "Offered twice what it can do: time since each claim was due",
                List.of(
                        Percentiles.line("settled", outcome.claimed),
                        Percentiles.line("refused with 503", outcome.refused),
                        Percentiles.line("refused with 503, since sent", outcome.refusedOnceSent))));
        exhibits.add(new Plot(
                "The server's heap meanwhile",
                "seconds",
                Axis.LINEAR,
                "MiB",
                Axis.LINEAR,
                List.of(
                        new Line(
                                "in use",
                                ServerWatch.points(
                                        looks,
                                        outcome.begunNanos,
                                        look -> look.heap().used() / MIB)),
                        new Line(
                                "after its last collection",
                                ServerWatch.points(
                                        looks,
                                        outcome.begunNanos,
                                        look -> look.heap().afterCollection() / MIB)))));
        exhibits.add(new Plot(
                "Claims waiting in the server meanwhile",
                "seconds",
                Axis.LINEAR,
                "claims",
                Axis.LINEAR,
                List.of(new Line(
                        "waiting", ServerWatch.points(looks, outcome.begunNanos, ServerWatch.Look::waiting)))));
    }
}
