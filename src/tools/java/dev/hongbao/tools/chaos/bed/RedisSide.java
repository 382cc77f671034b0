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

/** The Redis of a run, without proxies. Blocking; one fault at a time. */
public final class RedisSide implements AutoCloseable {
    public enum Form {
        ONE,
        /** A primary and a replica. */
        REPLICA,
        /** Three masters with a replica each. */
        CLUSTER
    }

    private static final int MASTERS = 3;

    private final Form form;
    private final @Nullable SmallDisk disk;
    private final RedisProcesses nodes;
    private final @Nullable LocalRedisCluster cluster;
    private int primary;
    private int chosen;
    private @Nullable Migration migration;

    /** A slot on its way between two masters. */
    private record Migration(int slot, int from, int to) {}

    /** @param directory created, and deleted at its end */
    RedisSide(Form form, Path directory, Path binaries) throws IOException {
        this.form = form;
        this.disk = isFillable(form) ? new SmallDisk(directory) : null;
        this.nodes = new RedisProcesses(directory.resolve("nodes"), binaries);
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
    }

    /**
     * Whether its disk can be full. A node of a cluster would end, since it must write its view of the cluster; a replica, since it must
     * write what its primary sends.
     */
    public static boolean isFillable(Form form) {
        return form == Form.ONE && SmallDisk.POSSIBLE;
    }

    public Form form() {
        return form;
    }

    /** Of the primary, or of the cluster. */
    String url() {
        return cluster == null ? nodes.url(primary) : cluster.url();
    }

    /** Of the primary; not of a cluster. */
    int port() {
        return nodes.port(primary);
    }

    /** Chooses a node that accepts writes: the faults that come now hurt it. */
    public void choose(SplittableRandom random) {
        chosen = node(random);
    }

    private int node(SplittableRandom random) {
        if (cluster == null) {
            return primary;
        }
        List<Integer> masters =
                IntStream.range(0, nodes.count()).filter(this::isMaster).boxed().toList();
        return masters.get(random.nextInt(masters.size()));
    }

    private boolean isMaster(int node) {
        try {
            return nodes.on(node, redis -> redis.info("replication")).contains("role:master");
        } catch (JedisException away) {
            return false;
        }
    }

    /** @param bytes such as "1mb"; "0" for no limit */
    public void limitMemory(String bytes) {
        nodes.on(chosen, redis -> redis.configSet("maxmemory", bytes));
    }

    /** A client of the chosen node. */
    public Jedis client() {
        return nodes.client(chosen);
    }

    /** SIGKILL. */
    public void kill() {
        nodes.kill(chosen);
    }

    /** SIGSTOP: its connections stay open, and the kernel answers for them. */
    public void freeze() {
        nodes.freeze(chosen);
    }

    public void thaw() {
        nodes.thaw(chosen);
    }

    /** After a kill; returns when it answers, and its replicas follow it or it follows. */
    public void startAgain() {
        startAgain(chosen);
    }

    private void startAgain(int node) {
        nodes.startAgain(node);
        if (cluster != null) {
            cluster.awaitOk();
        } else if (form == Form.REPLICA) {
            follow();
        }
    }

    /** Kills the primary with SIGKILL, and promotes the replica. */
    void killAndPromote() {
        nodes.kill(primary);
        primary = 1 - primary;
        nodes.on(primary, Jedis::replicaofNoOne);
    }

    /** After a promotion: the former primary follows. */
    public void startFormerPrimary() {
        startAgain(1 - primary);
    }

    private void follow() {
        nodes.on(1 - primary, redis -> redis.replicaof("127.0.0.1", nodes.port(primary)));
    }

    /** Begins to migrate a slot with keys to another master, and moves half of its keys. @return false if there is no key */
    public boolean migrateHalf(SplittableRandom random) {
        LocalRedisCluster all = Objects.requireNonNull(cluster);
        int from = node(random);
        int to = from;
        while (to == from) {
            to = node(random);
        }
        String key = nodes.on(from, Jedis::randomKey);
        if (key == null) {
            return false;
        }
        int slot = JedisClusterCRC16.getSlot(key);
        migration = new Migration(slot, from, to);
        all.beginMigration(slot, from, to);
        List<String> keys = all.keysIn(slot, from);
        for (String each : keys.subList(0, (keys.size() + 1) / 2)) {
            all.moveKey(each, from, to);
        }
        return true;
    }

    /** After {@link #migrateHalf}, whatever its result: the other master gets the slot. */
    public void migrateRest() {
        Migration begun = migration;
        if (begun != null) {
            LocalRedisCluster all = Objects.requireNonNull(cluster);
            all.endMigration(begun.slot, begun.from, begun.to);
            all.awaitOk();
            migration = null;
        }
    }

    /** SIGKILL, and the end of its log is lost. */
    public void cutLog(long bytes) throws IOException {
        kill();
        for (Map.Entry<Path, Long> each : logs().entrySet()) {
            truncate(each.getKey(), each.getValue() - bytes);
        }
    }

    /**
     * A power cut: SIGKILL, and every write since the last fsync is lost.
     *
     * @param millis from the fsync to the cut; Redis does one each second
     */
    public void cutLogToSynced(long millis) throws IOException, InterruptedException {
        Map<Path, Long> synced;
        try (Jedis redis = client()) {
            redis.configSet("appendfsync", "always");
            synced = logs();
            redis.set("chaos-mark", "", SetParams.setParams().px(1)); // its answer comes after the fsync
            redis.configSet("appendfsync", "everysec");
        }
        TimeUnit.MILLISECONDS.sleep(millis);
        kill();
        for (Path each : logs().keySet()) {
            truncate(each, synced.getOrDefault(each, 0L));
        }
    }

    /** SIGKILL, and a bit of its log is flipped. */
    public void flipLog(SplittableRandom random) throws IOException {
        kill();
        for (Map.Entry<Path, Long> each : logs().entrySet()) {
            if (each.getValue() > 0) {
                Damage.flip(each.getKey(), random.nextLong(each.getValue() * Byte.SIZE));
            }
        }
    }

    /** After {@link #flipLog}. A Redis that names its log as the reason not to start loses it. */
    public void startAgainOrForget() throws Exception {
        if (Damage.isNamed("reading the append only file", this::startAgain)) {
            Directories.delete(log());
            startAgain();
        }
    }

    /** The files that the chosen node appends to, with their lengths. */
    private Map<Path, Long> logs() throws IOException {
        Map<Path, Long> sizes = new HashMap<>();
        try (Stream<Path> files = Files.list(log())) {
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

    /** SIGKILL, and all of its data is lost. */
    public void killAndForget() throws IOException {
        kill();
        Directories.delete(log());
    }

    private Path log() {
        return nodes.directory().resolve(Integer.toString(chosen)).resolve("redis/appendonlydir");
    }

    /** Fills the disk of all nodes; only if {@link #isFillable}. */
    public void fillDisk() throws IOException {
        Objects.requireNonNull(disk).fill();
    }

    public void freeDisk() throws IOException {
        Objects.requireNonNull(disk).free();
    }

    @Override
    public void close() {
        nodes.close();
        if (disk != null) {
            disk.close();
        }
    }
}
