package dev.hongbao.tools.local;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Options for servers that find each other on loopback. Stateless. */
public final class LocalMembers {
    private LocalMembers() {}

    /** The options {@code cluster.…} of so many servers, on ports that are free now; each may be added to. */
    public static List<Map<String, String>> options(int servers) {
        int first = LocalPorts.free(2 * servers);
        List<Integer> ports = IntStream.range(0, servers)
                .mapToObj(server -> first + 2 * server)
                .toList();
        String members = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        return ports.stream()
                .<Map<String, String>>map(port ->
                        new TreeMap<>(Map.of("cluster.members", members, "cluster.port", Integer.toString(port))))
                .toList();
    }
}
