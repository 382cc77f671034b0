package dev.hongbao.testing;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.params.MigrateParams;
import redis.clients.jedis.util.JedisClusterCRC16;
import redis.clients.jedis.util.SafeEncoder;

/** A Redis Cluster on loopback: masters 0, 1 and 2 with equal parts of the slots, and replica 3 + n of master n. */
public final class RedisCluster implements AutoCloseable {
    private static final Duration FORMED = Duration.ofSeconds(20);

    private static final int SLOTS = 16_384;

    private final int masters;
    private final RedisProcesses nodes = new RedisProcesses("cluster");

    private RedisCluster(int masters) {
        this.masters = masters;
    }

    /** Returns when all nodes agree. */
    public static RedisCluster start(int masters, boolean replicas) {
        RedisCluster cluster = new RedisCluster(masters);
        try {
            cluster.form(replicas);
            return cluster;
        } catch (RuntimeException | Error fault) {
            cluster.close();
            throw fault;
        }
    }

    private void form(boolean replicas) {
        int count = replicas ? 2 * masters : masters;
        for (int node = 0; node < count; node++) {
            nodes.start(Map.of(
                    "cluster-enabled", "yes",
                    "cluster-port", Integer.toString(RedisProcesses.freePort()),
                    "cluster-node-timeout", "1000",
                    "cluster-require-full-coverage", "no",
                    "cluster-replica-validity-factor", "0"));
        }
        for (int node = 0; node < count; node++) {
            command(node, "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(node + 1));
            if (node < masters) {
                int from = node * SLOTS / masters;
                int to = (node + 1) * SLOTS / masters - 1;
                command(node, "CLUSTER", "ADDSLOTSRANGE", Integer.toString(from), Integer.toString(to));
            }
            if (node > 0) {
                command(node, "CLUSTER", "MEET", "127.0.0.1", Integer.toString(nodes.port(0)), clusterPort(0));
            }
        }
        awaitKnown(count);
        for (int node = masters; node < count; node++) {
            command(node, "CLUSTER", "REPLICATE", id(node - masters));
        }
        awaitReplicas(count - masters);
        awaitOk();
    }

    private String clusterPort(int node) {
        try (Jedis redis = nodes.client(node)) {
            return redis.configGet("cluster-port").get("cluster-port");
        }
    }

    private void awaitKnown(int count) {
        eventually(FORMED, () -> {
            for (int node = 0; node < count; node++) {
                assertThat(lines(node)).as("nodes that node %d knows", node).hasSize(count);
                assertThat(lines(node)).noneMatch(line -> line.contains("handshake"));
            }
        });
    }

    private void awaitReplicas(int wanted) {
        eventually(FORMED, () -> {
            for (int node = 0; node < nodes.count(); node++) {
                assertThat(lines(node).stream().filter(line -> line.contains("slave")))
                        .hasSize(wanted);
            }
            for (int node = 0; node < Math.min(masters, wanted); node++) {
                assertThat(info(node, "replication")).contains("state=online");
            }
        });
    }

    /** The master has a replica that follows it. */
    public void awaitReplicaOf(int master) {
        eventually(FORMED, () -> assertThat(info(master, "replication")).contains("role:master", "state=online"));
    }

    /** Every node that is alive says that all slots are served. */
    public void awaitOk() {
        eventually(FORMED, () -> {
            for (int node = 0; node < nodes.count(); node++) {
                if (isAlive(node)) {
                    assertThat(text(command(node, "CLUSTER", "INFO")))
                            .contains("cluster_state:ok", "cluster_slots_ok:" + SLOTS);
                }
            }
        });
    }

    /** The option's value: two of the nodes. */
    public String url() {
        return "redis+cluster://" + nodes.userInfo() + nodes.address(0) + "," + nodes.address(1);
    }

    /** From now on the nodes tell clients of other ports. @param front the port that leads to a port; @return their URL, with TLS */
    public String showBehind(IntUnaryOperator front) {
        List<Integer> shown = new ArrayList<>();
        for (int node = 0; node < nodes.count(); node++) {
            shown.add(front.applyAsInt(nodes.port(node)));
            try (Jedis redis = nodes.client(node)) {
                redis.configSet("cluster-announce-port", Integer.toString(shown.get(node)));
            }
        }
        eventually(FORMED, () -> {
            for (int node = 0; node < nodes.count(); node++) {
                for (int port : shown) {
                    assertThat(lines(node)).anyMatch(line -> line.contains("127.0.0.1:" + port + "@"));
                }
            }
        });
        return "rediss+cluster://" + nodes.userInfo() + "127.0.0.1:" + shown.get(0) + ",127.0.0.1:" + shown.get(1);
    }

    /** A client of one node, which follows nothing. */
    public Jedis client(int node) {
        return nodes.client(node);
    }

    /** The URL of one node alone. */
    public String urlOf(int node) {
        return "redis://" + nodes.userInfo() + nodes.address(node);
    }

    /** The node that serves a key's slot, as {@code asked} knows. */
    public int nodeOf(String key, int asked) {
        int slot = slot(key);
        for (String line : lines(asked)) {
            String[] words = line.split(" ");
            boolean has = words[2].contains("master")
                    && IntStream.range(8, words.length)
                            .mapToObj(i -> words[i])
                            .anyMatch(range -> contains(range, slot));
            if (has) {
                String address = words[1].substring(0, words[1].indexOf('@'));
                return IntStream.range(0, nodes.count())
                        .filter(node -> nodes.address(node).equals(address))
                        .findFirst()
                        .orElseThrow();
            }
        }
        throw new IllegalStateException("nobody has slot " + slot);
    }

    public static int slot(String key) {
        return JedisClusterCRC16.getSlot(key);
    }

    private static boolean contains(String range, int slot) {
        if (range.startsWith("[")) {
            return false;
        }
        String[] ends = range.split("-");
        return Integer.parseInt(ends[0]) <= slot && slot <= Integer.parseInt(ends[ends.length - 1]);
    }

    /** Marks a slot as on its way; its keys stay where they are until they are moved. */
    public void beginMigration(int slot, int from, int to) {
        command(to, "CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
        command(from, "CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
    }

    /** Moves one key of a slot that is on its way, if it is still there. */
    public void moveKey(String key, int from, int to) {
        try (Jedis source = nodes.client(from)) {
            assertThat(source.migrate(
                            "127.0.0.1",
                            nodes.port(to),
                            0,
                            5_000,
                            MigrateParams.migrateParams().auth(nodes.password()),
                            key))
                    .as(key)
                    .isIn("OK", "NOKEY");
        }
    }

    /** Moves what is left of the slot's keys, and gives the slot away. */
    public void endMigration(int slot, int from, int to) {
        try (Jedis source = nodes.client(from)) {
            for (List<String> keys = source.clusterGetKeysInSlot(slot, 1_000);
                    !keys.isEmpty();
                    keys = source.clusterGetKeysInSlot(slot, 1_000)) {
                keys.forEach(key -> moveKey(key, from, to));
            }
        }
        String owner = id(to);
        command(to, "CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", owner);
        command(from, "CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", owner);
    }

    /** {@code kill -9}. */
    public void kill(int node) {
        nodes.kill(node);
    }

    /** SIGSTOP: the node answers nothing, and its connections stay open. */
    public void freeze(int node) {
        nodes.freeze(node);
    }

    /** SIGCONT: it goes on where it was. */
    public void thaw(int node) {
        nodes.thaw(node);
    }

    public void startAgain(int node) {
        nodes.startAgain(node);
    }

    private boolean isAlive(int node) {
        try (Jedis redis = nodes.client(node)) {
            return redis.ping().equals("PONG");
        } catch (redis.clients.jedis.exceptions.JedisException away) {
            return false;
        }
    }

    public String info(int node, String section) {
        try (Jedis redis = nodes.client(node)) {
            return redis.info(section);
        }
    }

    private String id(int node) {
        return text(command(node, "CLUSTER", "MYID"));
    }

    private List<String> lines(int node) {
        return text(command(node, "CLUSTER", "NODES")).lines().collect(Collectors.toList());
    }

    private Object command(int node, String... words) {
        try (Jedis redis = nodes.client(node)) {
            byte[][] arguments = IntStream.range(1, words.length)
                    .mapToObj(i -> SafeEncoder.encode(words[i]))
                    .toArray(byte[][]::new);
            return redis.sendCommand(Protocol.Command.valueOf(words[0]), arguments);
        }
    }

    private static String text(Object reply) {
        return SafeEncoder.encode((byte[]) reply);
    }

    @Override
    public void close() {
        nodes.close();
    }
}
