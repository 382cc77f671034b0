package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.ClusterBed.Counts;
import dev.hongbao.values.PacketId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * CPU of a settled claim per process, and its latency: with one and three servers, a Redis and a Redis Cluster of three masters.
 * All processes share this machine, so the loads are small and equal.
 */
final class ClusterBench {
    private static final int SERVERS = 3;
    private static final int MASTERS = 3;

    /** Claims a second over all servers: little for one, as little for each of three, and enough for batches. */
    private static final int EASY = 200;

    private static final int EASY_FOR_EACH = SERVERS * EASY;
    private static final int BUSY = 2_400;

    /** More than a server settles; the load with it is a closed loop. */
    private static final int MOST = 20_000;

    private static final int CONNECTIONS_PER_SERVER = 96;
    private static final int MEMBERS = 2_000;
    private static final int SHARES = 50;
    private static final int WARM_UP_MILLIS = 15_000;
    private static final int BEGIN_MILLIS = 1_000;
    private static final int REST_MILLIS = 3_000;
    private static final int MILLIS = 5_000;

    private static final double FLAT = 1.15;

    private final Trial trial;

    ClusterBench(Trial trial) {
        this.trial = trial;
    }

    /** The rows of one number of servers and masters with one load. CPU is without the use at rest. */
    private final class Place {
        private final Row perSecond;
        private final Row servers;
        private final Row redis;
        private final Row postgres;
        private final Row perCommit;
        private final Row logBytes;
        private final Row p50;
        private final Row p99;

        /** @param flat the place that CPU and median latency are to equal; null for none */
        Place(String name, @Nullable Place flat) {
            perSecond = trial.row(name, "claims/s");
            servers = trial.row("  CPU of the servers", "µs");
            redis = trial.row("  CPU of Redis", "µs");
            postgres = trial.row("  CPU of Postgres", "µs");
            perCommit = trial.row("  claims a commit", "claims");
            logBytes = trial.row("  write-ahead log", "bytes");
            p50 = trial.row("  latency, p50", "µs");
            p99 = trial.row("  latency, p99", "µs");
            if (flat != null) {
                servers.over(flat.servers).atMost(FLAT);
                redis.over(flat.redis).atMost(FLAT);
                postgres.over(flat.postgres).atMost(FLAT);
                p50.over(flat.p50).atMost(FLAT);
            }
        }

        void add(Counts counts, Counts rest, double rests, HttpLoad.Outcome outcome) {
            Histogram done = outcome.done;
            double count = done.getTotalCount();
            perSecond.add(outcome.donePerSecond());
            servers.add(Math.max(0, counts.servers() - rest.servers() * rests) / count);
            redis.add(Math.max(0, counts.redis() - rest.redis() * rests) / count);
            postgres.add(Math.max(0, counts.postgres() - rest.postgres() * rests) / count);
            perCommit.add(counts.settled() / Math.max(1, counts.commits()));
            logBytes.add(counts.logBytes() / count);
            p50.add(done.getValueAtPercentile(50));
            p99.add(done.getValueAtPercentile(99));
        }
    }

    void run() throws Exception {
        Place one = new Place("1 server, 1 Redis, 200/s", null);
        Place cluster = new Place("1 server, 3 masters, 200/s", one);
        Place three = new Place("3 servers, 1 Redis, 200/s", null);
        Place oneMore = new Place("1 server, 1 Redis, 600/s", null);
        Place threeMore = new Place("3 servers, 1 Redis, 600/s", one);
        Place oneBusy = new Place("1 server, 1 Redis, 2,400/s", null);
        Place threeBusy = new Place("3 servers, 1 Redis, 2,400/s", null);
        Place oneMost = new Place("1 server, 1 Redis, as many as it can", null);
        Place threeMost = new Place("3 servers, 1 Redis, as many as they can", oneMost);
        Place sends = new Place("1 server, 1 Redis, as many sends of 5 as it can", null);
        for (int round = 0; round < trial.rounds; round++) {
            trial.step("1 Redis");
            try (Loads loads = new Loads("one", 1, SERVERS, 3 * claims(MOST, MILLIS))) {
                loads.measure(three, EASY);
                loads.measure(threeMore, EASY_FOR_EACH);
                loads.measure(threeBusy, BUSY);
                loads.measure(threeMost, MOST);
                loads.keepOne();
                loads.measure(one, EASY);
                loads.measure(oneMore, EASY_FOR_EACH);
                loads.measure(oneBusy, BUSY);
                loads.measure(oneMost, MOST);
                loads.measureSends(sends);
            }
            trial.step("Redis Cluster");
            try (Loads loads = new Loads("cluster", MASTERS, 1, claims(EASY, MILLIS))) {
                loads.measure(cluster, EASY);
            }
        }
    }

    /** The loads on one bed. Confined to one thread. */
    private final class Loads implements AutoCloseable {
        private final ClusterBed bed;
        private final Deque<PacketId> packets = new ArrayDeque<>();
        private final byte[][] headers;
        private Counts rest = new Counts(0, 0, 0, 0, 0, 0);

        /** @param claims for which there are packets, besides the warm-up */
        Loads(String name, int masters, int servers, long claims) throws Exception {
            bed = new ClusterBed(trial, name + System.nanoTime(), masters);
            try {
                long warmUp = MOST * trial.time(WARM_UP_MILLIS).toMillis() / 1_000;
                packets.addAll(bed.send((int) ((warmUp + claims) / SHARES) + 20, SHARES));
                headers = HttpCalls.headers(bed.config(), BenchBed.members(MEMBERS));
                bed.startServers(servers);
                claim(MOST, WARM_UP_MILLIS);
                rest();
            } catch (Exception | Error fault) {
                bed.close();
                throw fault;
            }
        }

        private HttpLoad.Outcome load(HttpLoad.Requests requests, int perSecond, int millis) throws Exception {
            List<Integer> ports = bed.ports();
            HttpLoad load = new HttpLoad(ports, CONNECTIONS_PER_SERVER * ports.size());
            if (perSecond < MOST) {
                load.perSecond(perSecond);
            }
            return load.run(requests, trial.time(millis)).in(trial);
        }

        private HttpLoad.Outcome claim(int perSecond, int millis) throws Exception {
            List<PacketId> taken = new ArrayList<>();
            for (long left = claims(perSecond, millis); left >= 0; left -= SHARES) {
                taken.add(packets.remove());
            }
            return load(HttpCalls.across(headers, taken, SHARES), perSecond, millis);
        }

        private void rest() throws Exception {
            Counts before = bed.counts();
            TimeUnit.MILLISECONDS.sleep(trial.time(REST_MILLIS).toMillis());
            rest = bed.counts().since(before);
        }

        private void measure(Place place, Callable<HttpLoad.Outcome> load) throws Exception {
            double rests = (double) trial.time(MILLIS).toNanos()
                    / trial.time(REST_MILLIS).toNanos();
            Counts before = bed.counts();
            HttpLoad.Outcome outcome = load.call();
            place.add(bed.counts().since(before), rest, rests, outcome);
        }

        void measure(Place place, int perSecond) throws Exception {
            measure(place, () -> claim(perSecond, MILLIS));
        }

        void measureSends(Place place) throws Exception {
            byte[][] senders = HttpCalls.headers(bed.config(), BenchBed.SENDERS);
            load(HttpCalls.sends(senders), MOST, BEGIN_MILLIS);
            measure(place, () -> load(HttpCalls.sends(senders), MOST, MILLIS));
        }

        void keepOne() throws Exception {
            bed.keepOne();
            claim(BUSY, BEGIN_MILLIS);
            rest();
        }

        @Override
        public void close() throws Exception {
            try {
                bed.checkBooks();
            } finally {
                bed.close();
            }
        }
    }

    private long claims(int perSecond, int millis) {
        return perSecond * trial.time(millis).toMillis() / 1_000;
    }
}
