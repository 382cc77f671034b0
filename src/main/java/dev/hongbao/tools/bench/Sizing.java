package dev.hongbao.tools.bench;

import dev.hongbao.engine.journal.SettlementBatch;
import dev.hongbao.tools.bench.Exhibits.Axis;
import dev.hongbao.tools.bench.Exhibits.Line;
import dev.hongbao.tools.bench.Exhibits.Plot;
import dev.hongbao.tools.bench.Exhibits.Point;
import dev.hongbao.tools.bench.Exhibits.Table;
import dev.hongbao.tools.bench.model.ClaimModel;
import dev.hongbao.tools.bench.model.Costs;
import dev.hongbao.tools.bench.model.Deployment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * How much of what so many packets a second need, when a core does what one does here. A packet is one that is sent or one that is opened,
 * as WeChat counts; with five shares, one in six is a send. A cell is a database with its own nodes of Redis and its own servers.
 */
final class Sizing {
    /** The last one is WeChat's peak on the eve of the Spring Festival of 2017. */
    static final List<Integer> PACKETS = List.of(10_000, 100_000, 760_000);

    private static final int SERVER_CORES = 8;

    /** How busy each may be: the rest is for bursts, and for what the model leaves out. */
    private static final double BUSY = 0.6;

    private static final double NODE_BUSY = 0.5;

    /** What one primary is asked for at the most: cores, and megabytes a second of its log, which a replica has to follow. */
    private static final int PRIMARY_CORES = 32;

    private static final double PRIMARY_LOG = 200;

    /** Of a node, so that none has many more than another. */
    private static final int SHARDS_A_NODE = 21;

    private static final int LEAST_SHARDS = 16;
    private static final int MOST_SHARDS = 256;
    private static final double SIMULATED = 200_000;

    private final Costs costs;
    private final double logBytes;

    /**
     * What a packet takes.
     *
     * @param model of a settled claim
     * @param claimLog of Postgres' log, in bytes, while many are made
     * @param send of five, while many are made
     * @param sendLog of one, in bytes
     */
    Sizing(Costs model, double claimLog, ClusterCosts.Micros send, double sendLog) {
        this.costs = new Costs(
                new Costs.Server(
                        mixed(model.server().claim(), send.servers()),
                        model.server().settlement()),
                new Costs.Redis(
                        mixed(model.redis().claim(), send.redis()),
                        model.redis().turn()),
                new Costs.Postgres(
                        mixed(model.postgres().claim(), send.postgres()),
                        model.postgres().settlement(),
                        model.postgres().commit()));
        this.logBytes = mixed(claimLog, sendLog);
    }

    private static double mixed(double claim, double send) {
        return (5 * claim + send) / 6;
    }

    /** @param deployment of each cell @param logMegabytes a second, of a cell */
    record Need(int packets, int cells, Deployment deployment, double logMegabytes) {
        double perCell() {
            return (double) packets / cells;
        }

        int cores() {
            return cells
                    * (deployment.servers() * deployment.coresEach() + deployment.nodes() + deployment.postgresCores());
        }
    }

    Need need(int packets) {
        double log = packets * logBytes / 1e6;
        int cells = up(Math.max(log / PRIMARY_LOG, packets * costs.postgres().claim() / 1e6 / BUSY / PRIMARY_CORES));
        double rate = (double) packets / cells;
        // A connection is one process of Postgres.
        double byCores = rate * costs.server().claim() / 1e6 / BUSY / SERVER_CORES;
        double byConnection = rate * costs.postgres().claim() / 1e6 / BUSY / SettlementBatch.MOST_AT_ONCE;
        int servers = Math.max(2, up(Math.max(byCores, byConnection)));
        int nodes = up(rate * costs.redis().claim() / 1e6 / NODE_BUSY);
        int shards = Math.min(MOST_SHARDS, Math.max(LEAST_SHARDS, nodes == 1 ? 0 : SHARDS_A_NODE * nodes));
        int postgres = Math.max(2, up(rate * costs.postgres().claim() / 1e6 / BUSY));
        return new Need(
                packets, cells, new Deployment(servers, SERVER_CORES, nodes, postgres, shards, null), log / cells);
    }

    private static int up(double amount) {
        return Math.max(1, (int) Math.ceil(amount));
    }

    void show(Exhibits exhibits) {
        List<List<String>> rows = new ArrayList<>();
        for (int packets : PACKETS) {
            Need need = need(packets);
            ClaimModel.Outcome model = ClaimModel.open(
                    need.deployment(), costs, need.perCell(), SIMULATED / need.perCell(), ClusterForecast.SEED);
            rows.add(List.of(
                    ClusterResults.number(packets),
                    ClusterResults.number(need.cells()),
                    ClusterResults.number(need.deployment().servers()),
                    ClusterResults.number(need.deployment().nodes()),
                    ClusterResults.number(need.deployment().shards()),
                    ClusterResults.number(need.deployment().postgresCores()),
                    ClusterResults.number(need.logMegabytes()),
                    ClusterResults.number(need.cores()),
                    ClusterResults.fine(model.perSettlement()),
                    ClusterResults.number(model.latency().getValueAtPercentile(50)),
                    ClusterResults.number(model.latency().getValueAtPercentile(99))));
        }
        exhibits.add(new Table(
                "Packets a second, one in six a send, by the model: cells, and what each of them has",
                List.of(
                        "packets/s",
                        "cells",
                        "servers of " + SERVER_CORES,
                        "Redis",
                        "shards",
                        "Postgres cores",
                        "log MB/s",
                        "all cores",
                        "a commit",
                        "p50 µs",
                        "p99 µs"),
                rows));
        exhibits.add(new Plot(
                "Cores that packets keep busy",
                "packets a second",
                Axis.LOG,
                "cores",
                Axis.LOG,
                List.of(
                        busy("servers", each -> each.server().claim()),
                        busy("Redis", each -> each.redis().claim()),
                        busy("Postgres", each -> each.postgres().claim()))));
    }

    private Line busy(String name, ToDoubleFunction<Costs> micros) {
        return new Line(
                name,
                Stream.of(1_000, 10_000, 100_000, 1_000_000)
                        .map(packets -> new Point(packets, packets * micros.applyAsDouble(costs) / 1e6))
                        .toList());
    }
}
