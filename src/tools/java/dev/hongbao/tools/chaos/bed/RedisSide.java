package dev.hongbao.tools.chaos.bed;

import dev.hongbao.tools.local.Directories;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.util.JedisClusterCRC16;

/** The Redis of a run, reached directly: one, a primary with a replica, or a cluster. Blocking; one fault at a time. */
public final class RedisSide implements AutoCloseable {
    /** How many nodes there are, and who follows whom. */
    public enum Form {
        ONE,
        REPLICA,
        CLUSTER
    }

    private static final int MASTERS = 3;

    private static final String MARK = "chaos-mark";

    private final Form form;
    private final @Nullable SmallDisk disk;
    private final RedisProcesses nodes;
    private final @Nullable LocalRedisCluster cluster;
    private int primary;

    /** @param directory made for it; what is in it is deleted with it */
    RedisSide(Form form, Path directory, Path binaries) throws IOException {
        this.form = form;
        this.disk = isFillable(form) ? SmallDisk.mount(directory) : null;
        this.nodes = new RedisProcesses(directory.resolve("nodes"), binaries);
        try {
            if (form == Form.CLUSTER) {
                this.cluster = LocalRedisCluster.start(nodes, MASTERS, true);
            } else {
                this.cluster = null;
                nodes.start(Map.of());
                if (form == Form.REPLICA) {
                    nodes.start(Map.of());
                    follow();
                }
            }
        } catch (RuntimeException | Error fault) {
            close();
            throw fault;
        }
    }

    /** Whether its disk can be full. A node of a cluster ends when it cannot write down who is who. */
    public static boolean isFillable(Form form) {
        return form != Form.CLUSTER && SmallDisk.isPossible();
    }

    public Form form() {
        return form;
    }

    /** Of the node that is to be asked, or of the cluster. */
    String url() {
        return cluster == null ? nodes.url(primary) : cluster.url();
    }

    /** Of the node that is to be asked; not of a cluster. */
    int port() {
        return nodes.port(primary);
    }

    /** One that takes writes. */
    public int node(SplittableRandom random) {
        if (cluster == null) {
            return primary;
        }
        List<Integer> masters =
                IntStream.range(0, nodes.count()).filter(this::isMaster).boxed().toList();
        return masters.get(random.nextInt(masters.size()));
    }

    private boolean isMaster(int node) {
        try (Jedis redis = nodes.client(node)) {
            return redis.info("replication").contains("role:master");
        } catch (JedisException away) {
            return false;
        }
    }

    public Jedis client(int node) {
        return nodes.client(node);
    }

    public long pid(int node) {
        return nodes.pid(node);
    }

    /** {@code kill -9}. */
    public void kill(int node) {
        nodes.kill(node);
    }

    /** After {@link #kill}; returns when it answers, and when who followed or is to follow does so. */
    public void startAgain(int node) {
        nodes.startAgain(node);
        if (cluster != null) {
            cluster.awaitOk();
        } else if (form == Form.REPLICA) {
            follow();
        }
    }

    /** {@code kill -9} of the primary; the replica takes its place with what it has got. Then lead the servers to it. */
    public void killAndPromote() {
        kill(primary);
        primary = 1 - primary;
        try (Jedis redis = nodes.client(primary)) {
            redis.replicaofNoOne();
        }
    }

    /** After {@link #killAndPromote}: who was the primary follows. */
    public void startKilledAgain() {
        startAgain(1 - primary);
    }

    /** A slot on its way between two masters of a cluster. */
    public record Migration(int slot, int from, int to) {}

    /** A slot with keys goes on its way, and half of its keys do. @return null when there is none */
    public @Nullable Migration migrateHalf(SplittableRandom random) {
        LocalRedisCluster all = Objects.requireNonNull(cluster);
        int from = node(random);
        int to = from;
        while (to == from) {
            to = node(random);
        }
        String key;
        try (Jedis redis = nodes.client(from)) {
            key = redis.randomKey();
        }
        if (key == null) {
            return null;
        }
        Migration migration = new Migration(JedisClusterCRC16.getSlot(key), from, to);
        all.beginMigration(migration.slot, from, to);
        List<String> keys = all.keysIn(migration.slot, from);
        for (String each : keys.subList(0, (keys.size() + 1) / 2)) {
            all.moveKey(each, from, to);
        }
        return migration;
    }

    /** The rest follows, and the slot is the other master's. */
    public void migrateRest(Migration migration) {
        LocalRedisCluster all = Objects.requireNonNull(cluster);
        all.endMigration(migration.slot, migration.from, migration.to);
        all.awaitOk();
    }

    private void follow() {
        try (Jedis redis = nodes.client(1 - primary)) {
            redis.replicaof("127.0.0.1", nodes.port(primary));
        }
    }

    /** {@code kill -9}, and the end of what it has written is gone. @param bytes of it */
    public void cutLog(int node, long bytes) throws IOException {
        kill(node);
        for (Map.Entry<Path, Long> each : logs(node).entrySet()) {
            truncate(each.getKey(), each.getValue() - bytes);
        }
    }

    /**
     * As a power cut leaves it: {@code kill -9}, and of what it wrote that is gone which had not been brought to disk.
     *
     * @param millis before the kill, from a moment at which all was on disk; Redis sees to it once a second
     */
    public void cutLogToSynced(int node, long millis) throws IOException, InterruptedException {
        Map<Path, Long> synced;
        try (Jedis redis = nodes.client(node)) {
            redis.configSet("appendfsync", "always");
            synced = logs(node);
            redis.set(MARK, "", SetParams.setParams().px(1)); // answered when it is on disk, and all before it
            redis.configSet("appendfsync", "everysec");
        }
        TimeUnit.MILLISECONDS.sleep(millis);
        kill(node);
        for (Path each : logs(node).keySet()) {
            truncate(each, synced.getOrDefault(each, 0L));
        }
    }

    /** The files to which a node appends, and how long they are. */
    private Map<Path, Long> logs(int node) throws IOException {
        Map<Path, Long> sizes = new HashMap<>();
        try (Stream<Path> files = Files.list(home(node).resolve("appendonlydir"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".incr.aof")).toList()) {
                sizes.put(file, Files.size(file));
            }
        }
        return sizes;
    }

    private static void truncate(Path file, long bytes) throws IOException {
        try (FileChannel log = FileChannel.open(file, StandardOpenOption.WRITE)) {
            log.truncate(Math.max(0, bytes));
        }
    }

    /** Nothing more fits on the disk of all nodes; only where it {@link #isFillable}. */
    public void fillDisk() throws IOException {
        Objects.requireNonNull(disk).fill();
    }

    /** There is room again. */
    public void freeDisk() throws IOException {
        Objects.requireNonNull(disk).free();
    }

    /** Everything that a killed node has written is gone. */
    public void forget(int node) throws IOException {
        Directories.delete(home(node).resolve("appendonlydir"));
    }

    private Path home(int node) {
        return nodes.directory().resolve(Integer.toString(node)).resolve("redis");
    }

    @Override
    public void close() {
        nodes.close();
        if (disk != null) {
            disk.close();
        }
    }
}
