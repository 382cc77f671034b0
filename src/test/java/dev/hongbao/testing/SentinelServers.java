package dev.hongbao.testing;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.local.LocalPorts;
import dev.hongbao.tools.local.RedisProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;

/** A master, server 0, its replica, server 1, and three sentinels that watch them, on loopback. */
public final class SentinelServers implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(30);

    private static final String MASTER = "books";

    private final IntUnaryOperator front;
    private final RedisProcesses servers = RedisNodes.processes("watched");
    private final List<Process> sentinels = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();

    private SentinelServers(IntUnaryOperator front) {
        this.front = front;
    }

    /** Returns when the sentinels know both servers and each other. */
    public static SentinelServers start() {
        return start(port -> port);
    }

    /** As above; the master and the sentinels are known by other ports. @param front the port that leads to a port */
    public static SentinelServers start(IntUnaryOperator front) {
        SentinelServers started = new SentinelServers(front);
        try {
            started.startAll();
            return started;
        } catch (IOException | RuntimeException | Error fault) {
            started.close();
            throw fault instanceof IOException unreadable
                    ? new UncheckedIOException(unreadable)
                    : new IllegalStateException(fault);
        }
    }

    private void startAll() throws IOException {
        servers.start(Map.of());
        servers.start(Map.of("replicaof", "127.0.0.1 " + servers.port(0)));
        eventually(READY, () -> {
            try (Jedis master = servers.client(0)) {
                assertThat(master.info("replication")).contains("state=online");
            }
        });
        Path program;
        try (Stream<Path> found = Files.walk(RedisNodes.BINARIES)) {
            program = found.filter(file -> file.endsWith("redis-server"))
                    .findFirst()
                    .orElseThrow()
                    .toAbsolutePath();
        }
        int master = front.applyAsInt(servers.port(0));
        for (int i = 0; i < 3; i++) {
            startSentinel(program, master);
        }
        eventually(READY, () -> {
            for (int port : ports) {
                try (Jedis sentinel = new Jedis("127.0.0.1", port)) {
                    Map<String, String> known = sentinel.sentinelMasters().get(0);
                    assertThat(known)
                            .containsEntry("num-slaves", "1")
                            .containsEntry("num-other-sentinels", "2")
                            .containsEntry("flags", "master");
                }
            }
        });
    }

    private void startSentinel(Path program, int master) throws IOException {
        int port = LocalPorts.free();
        Path directory = Files.createDirectories(servers.directory().resolve("sentinel-" + ports.size()));
        Path config = Files.writeString(
                directory.resolve("sentinel.conf"),
                String.join(
                        "\n",
                        "port " + port,
                        "bind 127.0.0.1",
                        "logfile sentinel.log",
                        "sentinel monitor " + MASTER + " 127.0.0.1 " + master + " 2",
                        "sentinel auth-pass " + MASTER + " " + servers.password(),
                        "sentinel down-after-milliseconds " + MASTER + " 1000",
                        "sentinel failover-timeout " + MASTER + " 3000",
                        ""));
        Process process = new ProcessBuilder(
                        program.toString(), config.getFileName().toString(), "--sentinel")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        sentinels.add(process);
        ports.add(port);
    }

    /** The option's value. */
    public String url() {
        return "redis+sentinel://" + servers.userInfo()
                + ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(",")) + "/" + MASTER;
    }

    /** The same with TLS, over the front. */
    public String secureUrl() {
        return "rediss+sentinel://" + servers.userInfo()
                + ports.stream()
                        .map(port -> "127.0.0.1:" + front.applyAsInt(port))
                        .collect(Collectors.joining(","))
                + "/" + MASTER;
    }

    /** Which server the sentinels call the master. */
    public int master() {
        try (Jedis sentinel = new Jedis("127.0.0.1", ports.get(0))) {
            int port = Integer.parseInt(
                    sentinel.sentinelGetMasterAddrByName(MASTER).get(1));
            return port == servers.port(0) ? 0 : 1;
        }
    }

    /** A client of one server. */
    public Jedis client(int server) {
        return servers.client(server);
    }

    /** Makes the replica the master, while both are well. */
    public void failOver() {
        try (Jedis sentinel = new Jedis("127.0.0.1", ports.get(0))) {
            sentinel.sentinelFailover(MASTER);
        }
    }

    /** {@code kill -9}. */
    public void kill(int server) {
        servers.kill(server);
    }

    public void startAgain(int server) {
        servers.startAgain(server);
    }

    @Override
    public void close() {
        sentinels.forEach(Process::destroyForcibly);
        sentinels.forEach(sentinel -> sentinel.onExit().join());
        servers.close();
    }
}
