package dev.hongbao.store.redis;

import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The slots of each master, as one node of a cluster reports them.
 *
 * @param ranges in no order; a slot without a master is in none
 */
record ClusterMap(List<Range> ranges) {
    static final int SLOTS = 16_384;

    private static final int POLYNOMIAL = 0x1021;

    /** The limit that Redis Cluster is made for; each master is a connection. */
    private static final int MAX_MASTERS = 1_000;

    /**
     * Slots of one master.
     *
     * @param from the first
     * @param to the last
     * @param master host and port
     */
    record Range(int from, int to, String master) {}

    ClusterMap {
        ranges = List.copyOf(ranges);
    }

    /**
     * Reads the reply of {@code CLUSTER SLOTS}.
     *
     * @param asked host and port of the answering node: it may not know its own name
     * @throws IllegalArgumentException for another reply, and for one without a master: a node that has not joined a cluster yet,
     *     or was reset, knows none
     */
    static ClusterMap of(Response reply, String asked) {
        List<Range> ranges = new ArrayList<>();
        for (Response each : reply) {
            int from = each.get(0).toInteger();
            int to = each.get(1).toInteger();
            if (from < 0 || to < from || to >= SLOTS) {
                throw new IllegalArgumentException("no range of slots: " + from + " to " + to);
            }
            Response master = each.get(2);
            String host = master.get(0) == null ? "" : master.get(0).toString();
            if (!host.equals("?")) { // the node prefers a host name and has none yet
                ranges.add(new Range(from, to, address(host, master.get(1).toString(), asked)));
            }
        }
        if (ranges.isEmpty()) {
            throw new IllegalArgumentException(
                    asked + " knows of no master: it is in no cluster, or in one without slots");
        }
        if (ranges.stream().map(Range::master).distinct().count() > MAX_MASTERS) {
            throw new IllegalArgumentException("more than " + MAX_MASTERS + " masters");
        }
        return new ClusterMap(ranges);
    }

    /** Host and port. The answering node's host replaces an empty one; an IPv6 address gets brackets. */
    static String address(String host, String port, String asked) {
        String known = host.isEmpty() ? asked.substring(0, asked.lastIndexOf(':')) : host;
        return (known.contains(":") && !known.startsWith("[") ? "[" + known + "]" : known) + ":" + port;
    }

    /** The slot of the key's hash tag, as in the Redis Cluster specification; of the whole key if it has none. */
    static int slotOf(String key) {
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open + 1);
        return crc16(close > open + 1 ? key.substring(open + 1, close) : key) & SLOTS - 1;
    }

    /** CRC-16/XMODEM. */
    private static int crc16(String text) {
        int crc = 0;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            crc ^= (each & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
        }
        return crc & 0xffff;
    }
}
