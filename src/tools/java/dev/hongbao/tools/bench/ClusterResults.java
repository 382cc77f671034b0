package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.ClusterCosts.Rest;
import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.bench.Exhibits.Point;
import dev.hongbao.tools.bench.Exhibits.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** What {@link ClusterBench} has seen, by place, and how it compares. Confined to one thread. */
final class ClusterResults {
    /** Flat: no more than 15 % above one server, or one Redis. */
    private static final double FLAT_PERCENT = 115;

    private static final String P99 = "latency, p99";

    private final Findings findings;
    private final Map<Place, List<ClusterCosts>> costs = new TreeMap<>();
    private final Map<Place, Rest> rests = new TreeMap<>();
    private final Map<String, ToDoubleFunction<ClusterCosts>> told = new LinkedHashMap<>();
    private final List<Runnable> ofRound = new ArrayList<>();

    /**
     * Where something was seen.
     *
     * @param masters of Redis
     * @param load claims a second over all servers, or {@link #REST}, {@link #CAPACITY}, {@link #SENDS} or {@link
     *     #BESIDE_OTHERS}
     */
    record Place(int masters, int servers, int load) implements Comparable<Place> {
        static final int REST = 0;

        /** As many as it can. */
        static final int CAPACITY = 1_000_000;

        static final int SENDS = 1_000_001;

        /** The easy load of one server, while as many others as a cluster has take the same on the same machine, each with its own stores. */
        static final int BESIDE_OTHERS = 1_000_002;

        private static final Comparator<Place> ORDER = Comparator.comparingInt(Place::load)
                .thenComparingInt(Place::masters)
                .thenComparingInt(Place::servers);

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }

        String name() {
            String size = servers + (servers == 1 ? " server, " : " servers, ") + masters + " Redis";
            return switch (load) {
                case CAPACITY -> size + ", all it can";
                case SENDS -> size + ", all sends it can";
                case BESIDE_OTHERS -> size + ", beside two";
                default -> size;
            };
        }
    }

    ClusterResults(Findings findings) {
        this.findings = findings;
        told.put("CPU of the servers", seen -> seen.cpu().servers());
        told.put("CPU of Redis", seen -> seen.cpu().redis());
        told.put("CPU of Postgres", seen -> seen.cpu().postgres());
        told.put("latency, p50", seen -> seen.latency().p50());
        told.put(P99, seen -> seen.latency().p99());
        Place one = new Place(1, 1, ClusterBench.EASY);
        told.forEach((what, value) -> {
            Measurement measured = findings.measure("1 server, 1 Redis: " + what, "µs");
            ofRound.add(() -> measured.add(value.applyAsDouble(last(one))));
        });
        Place three = new Place(1, ClusterBench.SERVERS, ClusterBench.EASY_FOR_EACH);
        ratios("3 servers against 1: ", three, one);
        Measurement beside = findings.atMost("3 servers against 3 that share a machine only: CPU", "%", FLAT_PERCENT);
        ofRound.add(() -> beside.add(100
                * last(three).cpu().servers()
                / last(new Place(1, 1, Place.BESIDE_OTHERS)).cpu().servers()));
        ratios("3 masters against 1: ", new Place(ClusterBench.MASTERS.get(1), 1, ClusterBench.EASY), one);
        Measurement full = findings.atMost("3 servers against 1, all they can: CPU of all", "%", FLAT_PERCENT);
        ofRound.add(() -> full.add(100
                * last(new Place(1, ClusterBench.SERVERS, Place.CAPACITY)).cpu().all()
                / last(new Place(1, 1, Place.CAPACITY)).cpu().all()));
        for (int masters : ClusterBench.MASTERS) {
            Measurement capacity = findings.measure("1 server, " + masters + " Redis: as many as it can", "claims/s");
            Place place = new Place(masters, 1, Place.CAPACITY);
            ofRound.add(() -> capacity.add(last(place).perSecond()));
        }
    }

    private void ratios(String name, Place place, Place to) {
        told.forEach((what, value) -> {
            Measurement measured = what.equals(P99)
                    ? findings.measure(name + what, "%")
                    : findings.atMost(name + what, "%", FLAT_PERCENT);
            ofRound.add(() -> measured.add(100 * value.applyAsDouble(last(place)) / value.applyAsDouble(last(to))));
        });
    }

    void add(Place place, Rest rest) {
        rests.put(place, rest);
    }

    void add(Place place, ClusterCosts seen) {
        costs.computeIfAbsent(place, first -> new ArrayList<>()).add(seen);
    }

    /** Tells of the round that has just ended. */
    void roundDone() {
        ofRound.forEach(Runnable::run);
    }

    /** Of the last round. */
    private ClusterCosts last(Place place) {
        List<ClusterCosts> seen = all(place);
        return seen.get(seen.size() - 1);
    }

    private List<ClusterCosts> all(Place place) {
        return Objects.requireNonNull(costs.get(place), "nothing was seen there");
    }

    /** The median of the rounds. */
    private double median(Place place, ToDoubleFunction<ClusterCosts> value) {
        double[] sorted = all(place).stream().mapToDouble(value).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** The table of all places, and plots. */
    void show() {
        List<List<String>> rows = new ArrayList<>();
        for (Place place : costs.keySet()) {
            boolean isSends = place.load == Place.SENDS;
            boolean isTimed = !isSends && place.load != Place.CAPACITY; // in the others each waits for a connection
            rows.add(List.of(
                    place.name(),
                    number(median(place, ClusterCosts::perSecond)),
                    number(median(place, seen -> seen.cpu().servers())),
                    number(median(place, seen -> seen.cpu().redis())),
                    number(median(place, seen -> seen.cpu().postgres())),
                    isSends ? "" : fine(median(place, ClusterCosts::perSettlement)),
                    isSends ? "" : number(median(place, ClusterCosts::settlementMicros)),
                    number(median(place, ClusterCosts::logBytes)),
                    isTimed ? number(median(place, seen -> seen.latency().p50())) : "",
                    isTimed ? number(median(place, seen -> seen.latency().p99())) : ""));
        }
        Exhibits exhibits = findings.exhibits();
        exhibits.add(new Table(
                "A settled claim, or a send of five: µs of CPU beyond what is taken at rest",
                List.of(
                        "where",
                        "a second",
                        "servers",
                        "Redis",
                        "Postgres",
                        "a commit",
                        "its µs",
                        "log bytes",
                        "p50 µs",
                        "p99 µs"),
                rows));
        exhibits.add(new Table(
                "At rest, ms of a core a second", List.of("where", "servers", "Redis", "Postgres"), atRest()));
        ClusterBench.MASTERS.forEach(this::plot);
    }

    private List<List<String>> atRest() {
        Duration second = Duration.ofSeconds(1);
        List<List<String>> rows = new ArrayList<>();
        rests.forEach((place, rest) -> rows.add(List.of(
                place.name(),
                number(rest.of(rest.cpu().servers(), second) / 1_000),
                number(rest.of(rest.cpu().redis(), second) / 1_000),
                number(rest.of(rest.cpu().postgres(), second) / 1_000))));
        return rows;
    }

    private void plot(int masters) {
        List<Line> lines = new ArrayList<>();
        told.forEach((what, value) -> {
            if (what.startsWith("CPU")) {
                List<Point> points = IntStream.rangeClosed(1, ClusterBench.SERVERS)
                        .mapToObj(servers ->
                                new Point(servers, median(new Place(masters, servers, ClusterBench.BUSY), value)))
                        .toList();
                lines.add(new Line(what, points));
            }
        });
        findings.exhibits()
                .add(new Plot(
                        String.format(Locale.ROOT, "A settled claim, %,d/s, with %d Redis", ClusterBench.BUSY, masters),
                        "servers",
                        Axis.LINEAR,
                        "microseconds of CPU",
                        Axis.LINEAR,
                        lines));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String fine(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
