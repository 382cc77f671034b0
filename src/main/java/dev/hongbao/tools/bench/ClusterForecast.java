package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.ClusterResults.Place;
import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.bench.Exhibits.Point;
import dev.hongbao.tools.bench.Exhibits.Table;
import dev.hongbao.tools.bench.model.ClaimModel;
import dev.hongbao.tools.bench.model.Costs;
import dev.hongbao.tools.bench.model.Deployment;
import dev.hongbao.tools.bench.model.LeastSquares;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A model of the claims' way, made from what one server with one Redis took, held against all that was measured, and carried over to loads
 * that no single machine carries. Confined to one thread.
 */
final class ClusterForecast {
    /** In every run the same, so that the same costs give the same numbers. */
    static final long SEED = 20_170_127;

    private static final int SHARDS = 16;
    private static final double SECONDS = 5;

    private final ClusterResults results;
    private final Findings findings;
    private final Costs costs;
    private final double loadMicros;
    private final Sizing sizing;

    ClusterForecast(ClusterResults results, Findings findings) {
        this.results = results;
        this.findings = findings;
        this.costs = fit();
        this.loadMicros = results.median(
                new Place(1, 1, ClusterBench.BUSY), seen -> seen.cpu().load());
        Place sends = new Place(1, 1, Place.SENDS);
        this.sizing = new Sizing(
                costs,
                results.median(new Place(1, 1, Place.CAPACITY), ClusterCosts::logBytes),
                results.medianCpu(sends),
                results.median(sends, ClusterCosts::logBytes));
    }

    /** From the places of one server and one Redis, whose batches differ: what is taken by a batch, and what by each claim in it. */
    private Costs fit() {
        List<Place> places = results.places().stream()
                .filter(place -> place.servers() == 1 && place.masters() == 1)
                .toList();
        ToDoubleFunction<ClusterCosts> bySettlement = seen -> 1 / seen.perSettlement();
        double[] server = line(places, bySettlement, seen -> seen.cpu().servers());
        double[] postgres = line(places, bySettlement, seen -> seen.cpu().postgres());
        Place easy = new Place(1, 1, ClusterBench.EASY);
        // A node that has much to do finds many calls at each turn, and hardly pays for the turns; one at ease finds
        // one.
        double redis = results.median(
                new Place(1, 1, Place.CAPACITY), seen -> seen.cpu().redis());
        double turn = Math.max(0, results.median(easy, seen -> seen.cpu().redis()) - redis);
        double work = postgres[1] + postgres[0] * results.median(easy, ClusterCosts::perSettlement);
        double commit = Math.max(0, results.median(easy, ClusterCosts::settlementMicros) - work);
        return new Costs(
                new Costs.Server(server[0], server[1]),
                new Costs.Redis(redis, turn),
                new Costs.Postgres(postgres[0], postgres[1], commit));
    }

    /** Least squares, neither end below 0. @return what each claim takes, and what a batch takes besides */
    private double[] line(
            List<Place> places, ToDoubleFunction<ClusterCosts> share, ToDoubleFunction<ClusterCosts> micros) {
        double[] x = places.stream()
                .mapToDouble(place -> results.median(place, share))
                .toArray();
        double[] y = places.stream()
                .mapToDouble(place -> results.median(place, micros))
                .toArray();
        return LeastSquares.line(x, y);
    }

    /** The model beside what was measured, and what more would need. */
    void show() {
        Exhibits exhibits = findings.exhibits();
        exhibits.add(new Table(
                "The model's costs, from one server with one Redis, µs",
                List.of("part", "a claim", "a batch"),
                List.of(
                        List.of(
                                "server",
                                ClusterResults.number(costs.server().claim()),
                                ClusterResults.number(costs.server().settlement())),
                        List.of(
                                "Redis",
                                ClusterResults.number(costs.redis().claim()),
                                ClusterResults.number(costs.redis().turn())),
                        List.of(
                                "Postgres",
                                ClusterResults.number(costs.postgres().claim()),
                                ClusterResults.number(costs.postgres().settlement())),
                        List.of(
                                "its disk",
                                "",
                                ClusterResults.number(costs.postgres().commit())))));
        exhibits.add(new Table(
                "The model against what was measured (seed " + SEED + ")",
                List.of("where", "claims/s", "measured", "p50 µs", "measured", "p99 µs", "measured"),
                compared()));
        exhibits.add(curve());
        sizing.show(exhibits);
    }

    private Deployment here(Place place) {
        int cores = Runtime.getRuntime().availableProcessors();
        return new Deployment(
                place.servers(),
                cores,
                place.masters(),
                cores,
                SHARDS,
                new Deployment.Shared(cores, loadMicros, results.rest(place).cores()));
    }

    private List<List<String>> compared() {
        List<List<String>> rows = new ArrayList<>();
        for (Place place : results.places()) {
            boolean isCapacity = place.load() == Place.CAPACITY;
            ClaimModel.Outcome model = isCapacity
                    ? ClaimModel.closed(here(place), costs, ClusterLoads.connections(place.servers()), SECONDS, SEED)
                    : ClaimModel.open(here(place), costs, place.load(), SECONDS, SEED);
            rows.add(List.of(
                    place.name(),
                    ClusterResults.number(model.perSecond()),
                    ClusterResults.number(results.median(place, ClusterCosts::perSecond)),
                    isCapacity ? "" : ClusterResults.number(model.latency().getValueAtPercentile(50)),
                    isCapacity
                            ? ""
                            : ClusterResults.number(
                                    results.median(place, seen -> seen.latency().p50())),
                    isCapacity ? "" : ClusterResults.number(model.latency().getValueAtPercentile(99)),
                    isCapacity
                            ? ""
                            : ClusterResults.number(
                                    results.median(place, seen -> seen.latency().p99()))));
        }
        return rows;
    }

    /** Latency over the load, up to what this machine can do. */
    private Plot curve() {
        Place place = new Place(1, 1, Place.CAPACITY);
        double most = ClaimModel.closed(here(place), costs, ClusterLoads.connections(place.servers()), SECONDS, SEED)
                .perSecond();
        List<Point> p50 = new ArrayList<>();
        List<Point> p99 = new ArrayList<>();
        for (int percent = 5; percent <= 90; percent += 5) {
            double rate = most * percent / 100;
            ClaimModel.Outcome model = ClaimModel.open(here(place), costs, rate, SECONDS, SEED);
            p50.add(new Point(rate, model.latency().getValueAtPercentile(50) / 1_000.0));
            p99.add(new Point(rate, model.latency().getValueAtPercentile(99) / 1_000.0));
        }
        return new Plot(
                "One server, one Redis, on this machine: latency by the model, and measured",
                "claims a second",
                Axis.LINEAR,
                "milliseconds",
                Axis.LOG,
                List.of(
                        new Line("p50, model", p50),
                        new Line("p99, model", p99),
                        measured("p50, measured", seen -> seen.latency().p50()),
                        measured("p99, measured", seen -> seen.latency().p99())));
    }

    private Line measured(String name, ToDoubleFunction<ClusterCosts> value) {
        return new Line(
                name,
                ClusterBench.RATES.stream()
                        .map(rate -> new Point(rate, results.median(new Place(1, 1, rate), value) / 1_000))
                        .toList());
    }
}
