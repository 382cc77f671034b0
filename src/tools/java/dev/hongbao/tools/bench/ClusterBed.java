package dev.hongbao.tools.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.Jdbc;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import dev.hongbao.values.PacketId;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A Postgres, a Redis or a Redis Cluster, and servers with a bus between them, in processes of their own. Blocking, confined to one thread. */
final class ClusterBed implements AutoCloseable {
    /** The second compiler would work for minutes in three servers on two cores; the first one is done in seconds. */
    private static final List<String> FLAGS = List.of("-Xmx384m", "-XX:TieredStopAtLevel=1");

    private static final int MAX_CONNECTIONS = 160;
    private static final String UNANNOUNCED = "select count(*) from unannounced";

    private final Trial trial;
    private final Path data;
    private final RedisProcesses redis;
    private final EmbeddedPostgres postgres;
    private final Map<String, String> options;
    private final List<ChildServer> servers = new ArrayList<>();

    /**
     * Totals since the processes began, of the servers that run now. CPU is microseconds of cores.
     *
     * @param commits transactions that settled
     * @param settled claims and closes in them
     * @param logBytes of Postgres' write-ahead log
     */
    record Counts(double servers, double redis, double postgres, double commits, double settled, double logBytes) {
        Counts since(Counts before) {
            return new Counts(
                    servers - before.servers,
                    redis - before.redis,
                    postgres - before.postgres,
                    commits - before.commits,
                    settled - before.settled,
                    logBytes - before.logBytes);
        }
    }

    /** Starts the stores, without a server. @param masters of a Redis Cluster; 1 is a Redis alone */
    ClusterBed(Trial trial, String name, int masters) {
        this.trial = trial;
        Path directory = trial.directory.resolve(name);
        Path binaries = directory.resolve("bin");
        data = directory.resolve("servers");
        redis = new RedisProcesses(directory.resolve("redis"), binaries);
        String url = masters == 1
                ? redis.url(redis.start(Map.of()))
                : LocalRedisCluster.start(redis, masters, false).url();
        EmbeddedOptions embedded = EmbeddedOptions.defaults()
                .withBinaries(binaries)
                .withPostgresSettings(Map.of("max_connections", Integer.toString(MAX_CONNECTIONS)));
        postgres = EmbeddedPostgres.start(directory.resolve("postgres"), embedded);
        // enough shards for each of three masters to have some
        options = Map.of(
                "redis.url",
                url,
                "postgres.url",
                postgres.appUrl(),
                "postgres.owner-url",
                postgres.ownerUrl(),
                "shards",
                "16");
    }

    /** All servers share a data directory, and so the secret of the tokens. */
    HongbaoConfig config() {
        return HongbaoConfig.forTrial(data, options);
    }

    /** Sends packets while no server runs. Returns when all are announced. */
    List<PacketId> send(int count, int shares) throws Exception {
        try (BenchBed bed = BenchBed.start(trial, config())) {
            bed.fund();
            List<PacketId> sent = bed.send(count, shares);
            BenchBed.await("packets are not announced", () -> bed.number(UNANNOUNCED) == 0);
            return sent;
        }
    }

    void checkBooks() throws Exception {
        try (BenchBed bed = BenchBed.beside(trial, config())) {
            bed.checkBooks();
        }
    }

    /** Starts servers. Returns when they share the shards and hear each other. */
    void startServers(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            servers.add(ChildServer.start(data, FLAGS, options, ProcessBuilder.Redirect.INHERIT));
        }
        awaitShared();
    }

    /** Stops all servers but one. Returns when that owns all shards. */
    void keepOne() throws Exception {
        while (servers.size() > 1) {
            servers.remove(servers.size() - 1).close();
        }
        awaitShared();
    }

    private void awaitShared() throws Exception {
        BenchBed.await(servers.size() + " servers do not share the shards", this::isShared);
    }

    private boolean isShared() throws IOException {
        int shards = config().engine().journal().shards();
        int part = (shards + servers.size() - 1) / servers.size();
        double owned = 0;
        for (ChildServer server : servers) {
            Map<String, Double> metrics = metrics(server);
            double own = metrics.getOrDefault("hongbao_shard_owned", 0.0);
            boolean hears = servers.size() == 1 || metrics.getOrDefault("hongbao_cluster_messages_total", 0.0) > 0;
            if (own > part || metrics.getOrDefault("hongbao_server_members", 0.0) != servers.size() || !hears) {
                return false;
            }
            owned += own;
        }
        return owned == shards;
    }

    List<Integer> ports() {
        return servers.stream().map(ChildServer::port).toList();
    }

    Counts counts() throws Exception {
        double ofServers = 0;
        double commits = 0;
        double settled = 0;
        for (ChildServer server : servers) {
            Map<String, Double> metrics = metrics(server);
            commits += metrics.getOrDefault("hongbao_journal_batch_items_count", 0.0);
            settled += metrics.getOrDefault("hongbao_journal_batch_items_sum", 0.0);
            ofServers += ProcessCpu.micros(server.pid());
        }
        double ofRedis = 0;
        for (int node = 0; node < redis.count(); node++) {
            ofRedis += ProcessCpu.micros(redis.pid(node));
        }
        return new Counts(ofServers, ofRedis, ProcessCpu.micros(postgres.pid()), commits, settled, logBytes());
    }

    /** Each metric's sum over its tags. */
    private static Map<String, Double> metrics(ChildServer server) throws IOException {
        URI uri = URI.create("http://127.0.0.1:" + server.managementPort() + "/metrics");
        try (InputStream in = uri.toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .collect(Collectors.toMap(
                            line -> line.split("[{ ]", 2)[0],
                            line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)),
                            Double::sum));
        }
    }

    private double logBytes() throws SQLException {
        return Double.parseDouble(
                Jdbc.one(PostgresAddress.of(postgres.appUrl()), "select pg_current_wal_lsn() - '0/0'::pg_lsn"));
    }

    @Override
    public void close() throws Exception {
        try {
            for (ChildServer server : servers) {
                server.close();
            }
        } finally {
            postgres.close();
            redis.close();
        }
    }
}
