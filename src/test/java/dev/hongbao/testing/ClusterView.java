package dev.hongbao.testing;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/** A Redis Cluster as its clients see it. */
public final class ClusterView {
    private static final Duration SOON = Duration.ofSeconds(20);

    private ClusterView() {}

    /** The node that serves a key's slot, in the view of {@code asked}. */
    public static int nodeOf(LocalRedisCluster cluster, String key, int asked) {
        return nodeOf(cluster, JedisClusterCRC16.getSlot(key), asked);
    }

    /** The node that serves a slot, in the view of {@code asked}. */
    public static int nodeOf(LocalRedisCluster cluster, int slot, int asked) {
        for (String line : cluster.lines(asked)) {
            String[] words = line.split(" ", -1);
            if (words[2].contains("master") && Arrays.stream(words).skip(8).anyMatch(range -> contains(range, slot))) {
                String address = words[1].substring(0, words[1].indexOf('@'));
                return IntStream.range(0, cluster.nodes().count())
                        .filter(node -> cluster.nodes().address(node).equals(address))
                        .findFirst()
                        .orElseThrow();
            }
        }
        throw new IllegalStateException("no node has slot " + slot);
    }

    /** @param range one slot, or the first and the last; in brackets a slot on its way */
    private static boolean contains(String range, int slot) {
        String[] ends = range.split("-", -1);
        return !range.startsWith("[")
                && Integer.parseInt(ends[0]) <= slot
                && slot <= Integer.parseInt(ends[ends.length - 1]);
    }

    /** The nodes announce other ports to clients. @param front the port in front of a port. @return their URL, with TLS */
    public static String showBehind(LocalRedisCluster cluster, IntUnaryOperator front) {
        RedisProcesses nodes = cluster.nodes();
        List<Integer> shown = new ArrayList<>();
        for (int node = 0; node < nodes.count(); node++) {
            shown.add(front.applyAsInt(nodes.port(node)));
            try (Jedis redis = nodes.client(node)) {
                redis.configSet("cluster-announce-port", Integer.toString(shown.get(node)));
            }
        }
        eventually(SOON, () -> {
            for (int node = 0; node < nodes.count(); node++) {
                String known = String.join(" ", cluster.lines(node));
                shown.forEach(port -> assertThat(known).contains("127.0.0.1:" + port + "@"));
            }
        });
        return "rediss+cluster://" + nodes.userInfo() + "127.0.0.1:" + shown.get(0) + ",127.0.0.1:" + shown.get(1);
    }
}
