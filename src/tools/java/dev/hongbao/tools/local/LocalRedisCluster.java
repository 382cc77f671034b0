package dev.hongbao.tools.local;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.MigrateParams;

/**
 * A Redis Cluster on loopback: masters 0, 1, … with equal parts of the slots, and optionally a replica of each after them. Confined to one
 * thread; blocking.
 */
public final class LocalRedisCluster implements AutoCloseable {
    private static final Duration FORMED = Duration.ofSeconds(20);
    private static final long POLL_MILLIS = 20;
    private static final int SLOTS = 16_384;
    private static final int MOST_KEYS = 1_000;
    private static final int MIGRATE_MILLIS = 5_000;

    private final int masters;
    private final RedisProcesses nodes;

    private LocalRedisCluster(RedisProcesses nodes, int masters) {
        this.nodes = nodes;
        this.masters = masters;
    }

    /**
     * Starts the nodes; returns when all agree.
     *
     * @param nodes without a process; they belong to the cluster from now on
     */
    public static LocalRedisCluster start(RedisProcesses nodes, int masters, boolean replicas) {
        LocalRedisCluster cluster = new LocalRedisCluster(nodes, masters);
        try {
            cluster.form(replicas ? 2 * masters : masters);
            return cluster;
        } catch (RuntimeException | Error fault) {
            cluster.close();
            throw fault;
        }
    }

    private void form(int count) {
        for (int node = 0; node < count; node++) {
            nodes.start(Map.of(
                    "cluster-enabled", "yes",
                    "cluster-port", Integer.toString(LocalPorts.free()),
                    "cluster-node-timeout", "1000",
                    "cluster-require-full-coverage", "no",
                    "cluster-replica-validity-factor", "0"));
        }
        for (int node = 0; node < count; node++) {
            command(node, "SET-CONFIG-EPOCH", Integer.toString(node + 1));
            if (node < masters) {
                int from = node * SLOTS / masters;
                int to = (node + 1) * SLOTS / masters - 1;
                command(node, "ADDSLOTSRANGE", Integer.toString(from), Integer.toString(to));
            }
            if (node > 0) {
                command(node, "MEET", "127.0.0.1", Integer.toString(nodes.port(0)), clusterPort(0));
            }
        }
        await("every node knows all others", () -> IntStream.range(0, count).allMatch(node -> knows(node, count)));
        for (int node = masters; node < count; node++) {
            command(node, "REPLICATE", id(node - masters));
        }
        int replicas = count - masters;
        await("replicas follow", () -> IntStream.range(0, count).allMatch(node -> replicasIn(node) == replicas));
        IntStream.range(0, replicas).forEach(this::awaitReplicaOf);
        awaitOk();
    }

    private String clusterPort(int node) {
        return nodes.on(
                node,
                redis -> redis.configGet("cluster-port").values().iterator().next());
    }

    private boolean knows(int node, int count) {
        List<String> lines = lines(node);
        return lines.size() == count && lines.stream().noneMatch(line -> line.contains("handshake"));
    }

    private long replicasIn(int node) {
        return lines(node).stream().filter(line -> line.contains("slave")).count();
    }

    /** Waits until the master has a connected replica. */
    public void awaitReplicaOf(int master) {
        await("a replica of node " + master, () -> {
            String said = info(master, "replication");
            return said.contains("role:master") && said.contains("state=online");
        });
    }

    /** Waits until all slots are served, in the view of every running node. */
    public void awaitOk() {
        await(
                "all slots are served",
                () -> IntStream.range(0, nodes.count()).filter(this::isAlive).allMatch(node -> {
                    String said = nodes.on(node, Jedis::clusterInfo);
                    return said.contains("cluster_state:ok") && said.contains("cluster_slots_ok:" + SLOTS);
                }));
    }

    private static void await(String what, BooleanSupplier reached) {
        long begun = System.nanoTime();
        while (!reached.getAsBoolean()) {
            if (System.nanoTime() - begun > FORMED.toNanos()) {
                throw new IllegalStateException("the cluster does not come to: " + what);
            }
            try {
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", stopped);
            }
        }
    }

    private boolean isAlive(int node) {
        try {
            return nodes.on(node, Jedis::ping).equals("PONG");
        } catch (JedisException away) {
            return false;
        }
    }

    /** The URL of two of the nodes. */
    public String url() {
        return "redis+cluster://" + nodes.userInfo() + nodes.address(0) + "," + nodes.address(1);
    }

    public RedisProcesses nodes() {
        return nodes;
    }

    public String info(int node, String section) {
        return nodes.on(node, redis -> redis.info(section));
    }

    private String id(int node) {
        return nodes.on(node, Jedis::clusterMyId);
    }

    /** CLUSTER NODES of a node: a line for each node it knows. */
    public List<String> lines(int node) {
        return nodes.on(node, Jedis::clusterNodes).lines().toList();
    }

    /** A subcommand of CLUSTER, to one node. */
    private void command(int node, String... words) {
        nodes.on(node, redis -> redis.sendCommand(Protocol.Command.CLUSTER, words));
    }

    /** Begins the migration of a slot; its keys stay until they are moved. */
    public void beginMigration(int slot, int from, int to) {
        command(to, "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
        command(from, "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
    }

    /** At most a thousand keys of a slot at a node. */
    public List<String> keysIn(int slot, int node) {
        return nodes.on(node, redis -> redis.clusterGetKeysInSlot(slot, MOST_KEYS));
    }

    /** Moves one key of a slot in migration, if it is still there. */
    public void moveKey(String key, int from, int to) {
        MigrateParams password = MigrateParams.migrateParams().auth(nodes.password());
        String moved =
                nodes.on(from, source -> source.migrate("127.0.0.1", nodes.port(to), 0, MIGRATE_MILLIS, password, key));
        if (!moved.equals("OK") && !moved.equals("NOKEY")) {
            throw new IllegalStateException(key + " is not moved: " + moved);
        }
    }

    /** Moves the rest of the keys, and the slot. */
    public void endMigration(int slot, int from, int to) {
        for (List<String> keys = keysIn(slot, from); !keys.isEmpty(); keys = keysIn(slot, from)) {
            keys.forEach(key -> moveKey(key, from, to));
        }
        String owner = id(to);
        command(to, "SETSLOT", Integer.toString(slot), "NODE", owner);
        command(from, "SETSLOT", Integer.toString(slot), "NODE", owner);
    }

    @Override
    public void close() {
        nodes.close();
    }
}
