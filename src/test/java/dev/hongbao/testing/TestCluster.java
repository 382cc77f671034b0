package dev.hongbao.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Options for servers that find each other on loopback. */
public final class TestCluster {
    private TestCluster() {}

    /** The options {@code cluster.…} of some servers, on ports that are free. */
    public static List<Map<String, String>> options(int servers) {
        int first = freePorts(2 * servers);
        List<Integer> ports = IntStream.range(0, servers)
                .mapToObj(server -> first + 2 * server)
                .toList();
        String members = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        return ports.stream()
                .<Map<String, String>>map(port ->
                        new TreeMap<>(Map.of("cluster.members", members, "cluster.port", Integer.toString(port))))
                .toList();
    }

    /** The first of so many in a row. */
    private static int freePorts(int count) {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        for (int tried = 0; tried < 50; tried++) {
            List<ServerSocket> held = new ArrayList<>();
            try {
                held.add(new ServerSocket(0, 1, loopback));
                int first = held.get(0).getLocalPort();
                for (int next = 1; next < count; next++) {
                    held.add(new ServerSocket(first + next, 1, loopback));
                }
                return first;
            } catch (IOException | IllegalArgumentException taken) {
                // the next try has other ports
            } finally {
                held.forEach(TestCluster::close);
            }
        }
        throw new IllegalStateException("no free ports");
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException unlikely) {
            throw new IllegalStateException(unlikely);
        }
    }
}
