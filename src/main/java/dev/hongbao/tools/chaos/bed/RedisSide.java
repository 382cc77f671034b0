package dev.hongbao.tools.chaos.bed;

import dev.hongbao.tools.local.Directories;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;
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

    private final Form form;
    private final RedisProcesses nodes;
    private final @Nullable LocalRedisCluster cluster;
    private int primary;

    RedisSide(Form form, Path directory, Path binaries) {
        this.form = form;
        this.nodes = new RedisProcesses(directory, binaries);
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
            nodes.close();
            throw fault;
        }
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

    /** The replica becomes the primary, with what it has got; the primary was killed. Then lead the servers to it. */
    public void promote() {
        primary = 1 - primary;
        try (Jedis redis = nodes.client(primary)) {
            redis.replicaofNoOne();
        }
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

    /** As a power cut leaves it: the end of what a killed node has written is gone. @param bytes of it */
    public void cutLog(int node, long bytes) throws IOException {
        try (Stream<Path> files = Files.list(home(node).resolve("appendonlydir"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".incr.aof")).toList()) {
                try (FileChannel log = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    log.truncate(Math.max(0, log.size() - bytes));
                }
            }
        }
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
    }
}
