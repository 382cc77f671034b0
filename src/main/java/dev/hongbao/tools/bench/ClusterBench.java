package dev.hongbao.tools.bench;

import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.tools.bench.ClusterBed.Counts;
import dev.hongbao.tools.bench.ClusterCosts.Rest;
import dev.hongbao.tools.bench.ClusterResults.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What a settled claim costs each process when there are one, two and three servers, and a Redis alone or a Redis Cluster of three
 * masters. All of it shares this machine, so the load is one that it can carry easily, the same for all: what grows is not the
 * throughput but, if anything, the cost. The servers are started once and warmed up together, and are then stopped one by one.
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

    /** Of each server: what grows with the servers is also who asks them. */
    private static final int CONNECTIONS = 96;

    private static final int MEMBERS = 2_000;
    private static final int SHARES = 50;

    /** More than can be settled here, so that each connection always has a next claim: the closed loop of the warm-up and of the capacity. */
    private static final int MOST = 20_000;

    private static final int WARM_UP_MILLIS = 15_000;
    private static final int REST_MILLIS = 3_000;
    private static final int BEGIN_MILLIS = 1_000;
    private static final int LENGTH_MILLIS = 5_000;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

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

    /** How many claim side by side. */
    static int connections(int servers) {
        return servers * CONNECTIONS;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return scale.rounds() * MASTERS.size() * (3 + SERVERS);
    }

    /** As {@link ClaimsBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        ClusterBench bench = new ClusterBench(directory, scale, progress);
        for (int round = 0; round < scale.rounds(); round++) {
            for (int masters : MASTERS) {
                bench.round(masters, round);
            }
            bench.results.roundDone();
        }
        bench.results.show();
        new ClusterForecast(bench.results, bench.findings).show();
        return bench.findings;
    }

    private void round(int masters, int round) throws Exception {
        progress.accept(nodes(masters) + ": packets");
        try (ClusterBed bed = ClusterBed.start(directory.resolve(round + "-" + masters), masters)) {
            if (round == 0 && masters == 1) {
                findings.on(Machine.versions(bed.stores()));
            }
            Loads loads = new Loads(bed);
            progress.accept(nodes(masters) + ": servers start");
            bed.startServers(SERVERS);
            progress.accept(nodes(masters) + ": warm-up");
            loads.warmUp();
            for (int servers = SERVERS; servers > 0; servers--) {
                progress.accept(nodes(masters) + ": servers: " + servers);
                if (servers < SERVERS) {
                    bed.stopServer();
                }
                Rest rest = rest(bed);
                loads.begin();
                results.add(new Place(masters, servers, Place.REST), rest);
                for (int rate : RATES) {
                    results.add(new Place(masters, servers, rate), loads.measure(rate, rest));
                }
                results.add(new Place(masters, servers, Place.CAPACITY), loads.measure(MOST, rest));
                if (servers == 1) {
                    results.add(new Place(masters, 1, Place.SENDS), loads.measureSends(rest));
                }
            }
            BenchBed.audit(bed.stores(), findings);
        }
    }

    private static String nodes(int masters) {
        return masters == 1 ? "Redis" : "Redis Cluster";
    }

    private Duration millis(int usual) {
        return Duration.ofMillis(scale.millis(usual));
    }

    /** What the processes take while nobody claims. */
    private Rest rest(ClusterBed bed) throws Exception {
        Duration length = millis(REST_MILLIS);
        Counts before = bed.counts();
        TimeUnit.MILLISECONDS.sleep(length.toMillis());
        return new Rest(bed.counts().since(before).cpu(), length);
    }

    /** The loads on one bed, in the order in which they are made; their packets are sent before, since that is work, too. */
    private final class Loads {
        private final ClusterBed bed;
        private final byte[][] headers;
        private final Deque<List<PacketId>> packets;

        Loads(ClusterBed bed) throws Exception {
            this.bed = bed;
            List<Integer> counts = new ArrayList<>();
            counts.add(packets(MOST, millis(WARM_UP_MILLIS)));
            for (int servers = 0; servers < SERVERS; servers++) {
                counts.add(packets(BUSY, millis(BEGIN_MILLIS)));
                for (int rate : RATES) {
                    counts.add(packets(rate, millis(LENGTH_MILLIS)));
                }
                counts.add(packets(MOST, millis(LENGTH_MILLIS)));
            }
            this.packets = new ArrayDeque<>(bed.send(counts, SHARES));
            this.headers = HttpClaims.headers(bed.config(), BenchPackets.members(MEMBERS));
        }

        private int packets(int perSecond, Duration length) {
            return (int) (perSecond * length.toMillis() / 1_000 / SHARES) + 1;
        }

        private OpenLoop.Outcome claim(int perSecond, Duration length) throws IOException {
            return load(perSecond, length, HttpClaims.across(headers, packets.remove(), SHARES));
        }

        private OpenLoop.Outcome load(int perSecond, Duration length, OpenLoop.Requests requests) throws IOException {
            List<Integer> ports = bed.ports();
            OpenLoop.Load load =
                    new OpenLoop.Load(ports, connections(ports.size()), perSecond, Duration.ZERO, length, PATIENCE);
            OpenLoop.Outcome outcome = OpenLoop.run(load, requests, 0);
            if (!outcome.troubles().isEmpty()) {
                findings.fault(outcome.troubles());
            }
            return outcome;
        }

        void warmUp() throws IOException {
            claim(MOST, millis(WARM_UP_MILLIS));
        }

        /** For servers that have just got the others' shards. */
        void begin() throws IOException {
            claim(BUSY, millis(BEGIN_MILLIS));
        }

        /** Claims; of {@link #MOST} as many as the servers can settle while each connection has one under way. */
        ClusterCosts measure(int rate, Rest rest) throws Exception {
            Counts before = bed.counts();
            Duration length = millis(LENGTH_MILLIS);
            OpenLoop.Outcome outcome = claim(rate, length);
            return ClusterCosts.of(bed.counts().since(before), outcome, length, rest);
        }

        ClusterCosts measureSends(Rest rest) throws Exception {
            Duration length = millis(LENGTH_MILLIS);
            load(MOST, millis(BEGIN_MILLIS), new HttpSends(bed.config()));
            Counts before = bed.counts();
            OpenLoop.Outcome outcome = load(MOST, length, new HttpSends(bed.config()));
            return ClusterCosts.of(bed.counts().since(before), outcome, length, rest);
        }
    }
}
