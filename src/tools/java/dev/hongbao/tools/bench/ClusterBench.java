package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.ClusterResults.Place;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * What a settled claim costs each process when there are one, two and three servers, and a Redis alone or a Redis Cluster of three
 * masters. All of it shares this machine, so the load is one that it can carry easily, the same for all: what grows is not the
 * throughput but, if anything, the cost. The servers are started once and warmed up together, and are then stopped one by one. And since
 * processes that share a machine cost each other something, one server is measured beside others that it knows nothing of.
 */
final class ClusterBench {
    static final int SERVERS = 3;

    /** Of Redis: alone, and as a cluster. */
    static final List<Integer> MASTERS = List.of(1, 3);

    /** Claims a second over all servers: easy for one; the same for each of three; and so many that batches form. */
    static final int EASY = 200;

    static final int EASY_FOR_EACH = SERVERS * EASY;
    static final int BUSY = 2_400;
    static final List<Integer> RATES = List.of(EASY, EASY_FOR_EACH, BUSY);

    private final Findings findings = new Findings("cluster");
    private final ClusterResults results = new ClusterResults(findings);
    private final Path directory;
    private final Scale scale;
    private final Consumer<String> progress;

    private ClusterBench(Path directory, Scale scale, Consumer<String> progress) {
        this.directory = directory;
        this.scale = scale;
        this.progress = progress;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return scale.rounds() * (MASTERS.size() * (3 + SERVERS) + 1);
    }

    /** As {@link ClaimsBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        ClusterBench bench = new ClusterBench(directory, scale, progress);
        for (int round = 0; round < scale.rounds(); round++) {
            for (int masters : MASTERS) {
                bench.round(masters, round);
            }
            bench.sideBySide(round);
            bench.results.roundDone();
        }
        bench.results.show();
        return bench.findings;
    }

    private void round(int masters, int round) throws Exception {
        progress.accept(nodes(masters) + ": packets");
        try (ClusterBed bed = ClusterBed.start(directory.resolve(round + "-" + masters), masters)) {
            if (round == 0 && masters == 1) {
                findings.on(Machine.versions(bed.stores()));
            }
            ClusterLoads loads = ClusterLoads.ofCluster(bed, findings, scale);
            progress.accept(nodes(masters) + ": servers start");
            bed.startServers(SERVERS);
            progress.accept(nodes(masters) + ": warm-up");
            loads.warmUp();
            for (int servers = SERVERS; servers > 0; servers--) {
                progress.accept(nodes(masters) + ": servers: " + servers);
                if (servers < SERVERS) {
                    bed.stopServer();
                }
                results.add(new Place(masters, servers, Place.REST), loads.rest());
                loads.begin();
                for (int rate : RATES) {
                    results.add(new Place(masters, servers, rate), loads.measure(rate));
                }
                results.add(new Place(masters, servers, Place.CAPACITY), loads.measure(ClusterLoads.MOST));
                if (servers == 1) {
                    results.add(new Place(masters, 1, Place.SENDS), loads.measureSends());
                }
            }
            BenchBed.checkBooks(bed.stores(), findings);
        }
    }

    /** What a server takes that shares the machine with two others, of which it knows nothing: what a crowded machine costs, and no more. */
    private void sideBySide(int round) throws Exception {
        progress.accept("servers side by side");
        List<ClusterBed> beds = new ArrayList<>();
        try {
            List<ClusterLoads> loads = new ArrayList<>();
            for (int i = 0; i < SERVERS; i++) {
                ClusterBed bed = ClusterBed.start(directory.resolve(round + "-beside-" + i), 1);
                beds.add(bed);
                loads.add(ClusterLoads.ofOne(bed, findings, scale));
                bed.startServers(1);
            }
            atOnce(loads, each -> {
                each.warmUp();
                return each;
            });
            atOnce(loads, ClusterLoads::rest);
            results.add(
                    new Place(1, 1, Place.BESIDE_OTHERS),
                    ClusterCosts.mean(atOnce(loads, ClusterLoads::measureBesideOthers)));
            for (ClusterBed bed : beds) {
                BenchBed.checkBooks(bed.stores(), findings);
            }
        } finally {
            for (ClusterBed bed : beds) {
                bed.close();
            }
        }
    }

    /** What is made of a load, on a thread of its own. */
    private interface Step<R> {
        R take(ClusterLoads loads) throws Exception;
    }

    private static <R> List<R> atOnce(List<ClusterLoads> loads, Step<R> step) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(loads.size());
        try {
            List<Future<R>> steps = loads.stream()
                    .map(each -> threads.submit(() -> step.take(each)))
                    .toList();
            List<R> taken = new ArrayList<>();
            for (Future<R> each : steps) {
                taken.add(each.get());
            }
            return taken;
        } finally {
            threads.shutdownNow();
        }
    }

    private static String nodes(int masters) {
        return masters == 1 ? "Redis" : "Redis Cluster";
    }
}
