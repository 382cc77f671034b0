package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Postgres, a Redis or a Redis Cluster, and some servers with a bus between them, each in processes of its own.
 * Blocking, confined to one thread.
 */
final class ClusterBed implements AutoCloseable {
    /**
     * Three servers on two cores would compile for minutes; the first compiler alone is done in seconds, so that what is measured is claims.
     */
    private static final List<String> FLAGS = List.of("-Xmx384m", "-XX:TieredStopAtLevel=1");

    private static final int MAX_CONNECTIONS = 160;
    private static final long SHARED_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(90);
    private static final long LOOK_MILLIS = 100;
    private static final String UNTOLD = "select exists (select from unannounced)";

    private final Path directory;
    private final RedisProcesses redis;
    private final String redisUrl;
    private final EmbeddedPostgres postgres;
    private final StoreAddresses stores;
    private final List<ChildServer> servers = new ArrayList<>();

    /**
     * What has been seen so far, since the processes began; of the servers that are there now.
     *
     * @param settlements transactions that settled
     * @param settled claims and closes in them
     * @param settlementMicros that they took, with the disk, and each its wait for the one before
     * @param logBytes of Postgres' write-ahead log
     */
    record Counts(Cpu cpu, double settlements, double settled, double settlementMicros, double logBytes) {
        Counts since(Counts before) {
            return new Counts(
                    cpu.since(before.cpu),
                    settlements - before.settlements,
                    settled - before.settled,
                    settlementMicros - before.settlementMicros,
                    logBytes - before.logBytes);
        }
    }

    /** Microseconds of cores: of all servers, of all nodes of Redis, and of Postgres with its backends. */
    record Cpu(long servers, long redis, long postgres) {
        Cpu since(Cpu before) {
            return new Cpu(servers - before.servers, redis - before.redis, postgres - before.postgres);
        }
    }

    private ClusterBed(Path directory, RedisProcesses redis, String redisUrl, EmbeddedPostgres postgres) {
        this.directory = directory;
        this.redis = redis;
        this.redisUrl = redisUrl;
        this.postgres = postgres;
        this.stores = new StoreAddresses(
                redisUrl, PostgresAddress.of(postgres.ownerUrl()), PostgresAddress.of(postgres.appUrl()));
    }

    /** Starts the stores, without a server. @param masters of a Redis Cluster; 1 is a Redis alone */
    static ClusterBed start(Path directory, int masters) {
        Path binaries = directory.resolve("bin");
        RedisProcesses redis = new RedisProcesses(directory.resolve("redis"), binaries);
        try {
            String url = masters == 1
                    ? redis.url(redis.start(Map.of()))
                    : LocalRedisCluster.start(redis, masters, false).url();
            EmbeddedOptions options = EmbeddedOptions.defaults()
                    .withBinaries(binaries)
                    .withPostgresSettings(Map.of("max_connections", Integer.toString(MAX_CONNECTIONS)));
            EmbeddedPostgres postgres = EmbeddedPostgres.start(directory.resolve("postgres"), options);
            return new ClusterBed(directory, redis, url, postgres);
        } catch (RuntimeException | Error fault) {
            redis.close();
            throw fault;
        }
    }

    /** How any engine reaches the stores; all of them have one data directory, and so one key of tokens. */
    HongbaoConfig config() {
        return HongbaoConfig.forTrial(data(), options());
    }

    private Path data() {
        return directory.resolve("servers");
    }

    private Map<String, String> options() {
        return Map.of(
                "redis.url", redisUrl, "postgres.url", postgres.appUrl(), "postgres.owner-url", postgres.ownerUrl());
    }

    StoreAddresses stores() {
        return stores;
    }

    /** Sends packets, one list for each count, while no server is there to be disturbed; returns when their groups have been told. */
    List<List<PacketId>> send(List<Integer> counts, int shares) throws Exception {
        try (BenchBed bed = BenchBed.start(config())) {
            BenchPackets.fund(bed);
            List<List<PacketId>> sent = new ArrayList<>();
            for (int count : counts) {
                sent.add(BenchPackets.send(bed, count, shares));
            }
            while (BenchBed.await(bed.engine().pool().query(UNTOLD).execute())
                    .iterator()
                    .next()
                    .getBoolean(0)) {
                TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            }
            return sent;
        }
    }

    /** Starts so many servers side by side; returns when they share the shards and hear each other. */
    void startServers(int count) throws Exception {
        List<CompletableFuture<ChildServer>> starting = Stream.generate(
                        () -> CompletableFuture.supplyAsync(this::server))
                .limit(count)
                .toList();
        Exception failed = null;
        for (CompletableFuture<ChildServer> each : starting) {
            try {
                servers.add(each.get());
            } catch (Exception fault) {
                failed = fault;
            }
        }
        if (failed != null) {
            throw failed;
        }
        awaitShared();
    }

    private ChildServer server() {
        try {
            return ChildServer.start(data(), FLAGS, options());
        } catch (IOException fault) {
            throw new IllegalStateException("a server did not start: " + fault.getMessage(), fault);
        }
    }

    /** Stops the last one; returns when the others share its shards. */
    void stopServer() throws Exception {
        servers.remove(servers.size() - 1).close();
        awaitShared();
    }

    private void awaitShared() throws Exception {
        long begun = System.nanoTime();
        while (!isShared()) {
            if (System.nanoTime() - begun > SHARED_LIMIT_NANOS) {
                throw new TimeoutException(servers.size() + " servers do not come to share the shards");
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    private boolean isShared() throws Exception {
        int shards = config().engine().journal().shards();
        int part = (shards + servers.size() - 1) / servers.size();
        double owned = 0;
        for (ChildServer server : servers) {
            ServerNumbers numbers = ServerNumbers.of(server.managementPort());
            double own = numbers.sum("hongbao_shard_owned");
            boolean hears = servers.size() == 1 || numbers.sum("hongbao_cluster_messages_total") > 0;
            if (own > part || numbers.sum("hongbao_server_members") != servers.size() || !hears) {
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
        long ofServers = 0;
        double settlements = 0;
        double settled = 0;
        double seconds = 0;
        for (ChildServer server : servers) {
            ServerNumbers numbers = ServerNumbers.of(server.managementPort());
            settlements += numbers.sum("hongbao_journal_batch_items_count");
            settled += numbers.sum("hongbao_journal_batch_items_sum");
            seconds += numbers.sum("hongbao_journal_settlement_seconds_sum");
            ofServers += ProcessCpu.micros(server.pid());
        }
        long ofRedis = 0;
        for (int node : IntStream.range(0, redis.count()).toArray()) {
            ofRedis += ProcessCpu.micros(redis.pid(node));
        }
        return new Counts(
                new Cpu(ofServers, ofRedis, ProcessCpu.micros(postgres.pid())),
                settlements,
                settled,
                seconds * 1e6,
                logBytes());
    }

    private double logBytes() throws SQLException {
        PostgresAddress.Login login = stores.app().login();
        try (Connection connection =
                        DriverManager.getConnection(stores.app().jdbcUrl(), login.user(), login.password());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_current_wal_lsn() - '0/0'::pg_lsn")) {
            row.next();
            return row.getDouble(1);
        }
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
