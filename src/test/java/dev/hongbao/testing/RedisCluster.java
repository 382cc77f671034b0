package dev.hongbao.testing;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/** A Redis Cluster on loopback whose nodes are killed and whose slots are moved: masters 0, 1 and 2, and replica 3 + n of master n. */
public final class RedisCluster implements AutoCloseable {
    private final LocalRedisCluster cluster;
    private final RedisProcesses nodes;

    private RedisCluster(LocalRedisCluster cluster) {
        this.cluster = cluster;
        this.nodes = cluster.nodes();
    }

    /** Returns when all nodes agree. */
    public static RedisCluster start(int masters, boolean replicas) {
        return new RedisCluster(LocalRedisCluster.start(RedisNodes.processes("cluster"), masters, replicas));
    }

    /** The master has a replica that follows it. */
    public void awaitReplicaOf(int master) {
        cluster.awaitReplicaOf(master);
    }

    /** Every node that is alive says that all slots are served. */
    public void awaitOk() {
        cluster.awaitOk();
    }

    /** The option's value: two of the nodes. */
    public String url() {
        return cluster.url();
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
        eventually(Duration.ofSeconds(20), () -> {
            for (int node = 0; node < nodes.count(); node++) {
                for (int port : shown) {
                    assertThat(cluster.lines(node)).anyMatch(line -> line.contains("127.0.0.1:" + port + "@"));
                }
            }
        });
        return "rediss+cluster://" + nodes.userInfo() + "127.0.0.1:" + shown.get(0) + ",127.0.0.1:" + shown.get(1);
    }

    /** A client of one node, which follows nothing. */
    public Jedis client(int node) {
        return nodes.client(node);
    }

    /** What a node says of itself; see the command INFO. */
    public String info(int node, String section) {
        return cluster.info(node, section);
    }

    /** The URL of one node alone. */
    public String urlOf(int node) {
        return nodes.url(node);
    }

    /** The node that serves a key's slot, as {@code asked} knows. */
    public int nodeOf(String key, int asked) {
        return nodeOf(slot(key), asked);
    }

    /** The node that serves a slot, as {@code asked} knows. */
    public int nodeOf(int slot, int asked) {
        for (String line : cluster.lines(asked)) {
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
        cluster.beginMigration(slot, from, to);
    }

    /** Moves one key of a slot that is on its way, if it is still there. */
    public void moveKey(String key, int from, int to) {
        cluster.moveKey(key, from, to);
    }

    /** Moves what is left of the slot's keys, and gives the slot away. */
    public void endMigration(int slot, int from, int to) {
        cluster.endMigration(slot, from, to);
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

    @Override
    public void close() {
        cluster.close();
    }
}
