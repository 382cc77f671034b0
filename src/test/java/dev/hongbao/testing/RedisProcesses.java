package dev.hongbao.testing;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedRedis;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;

/** Redis processes of one test class that belong together: one password, each in a directory of its own, not supervised. */
final class RedisProcesses implements AutoCloseable {
    static final Path ROOT = Path.of("target", "test-servers");

    private static final String PASSWORD = "0123456789abcdef0123456789abcdef";

    private final Path directory;
    private final List<Path> homes = new ArrayList<>();
    private final List<Map<String, String>> settings = new ArrayList<>();
    private final List<EmbeddedRedis> processes = new ArrayList<>();

    RedisProcesses(String name) {
        this.directory =
                ROOT.resolve(name + "-" + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()));
    }

    /** Starts one more. @return its number */
    int start(Map<String, String> more) {
        Path home = directory.resolve(Integer.toString(homes.size()));
        try {
            Path secrets = Files.createDirectories(
                    home.resolve("secrets"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.writeString(secrets.resolve("redis"), PASSWORD);
            Files.setPosixFilePermissions(secrets.resolve("redis"), PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        homes.add(home);
        settings.add(Map.copyOf(more));
        processes.add(EmbeddedRedis.start(home, options(more)));
        return homes.size() - 1;
    }

    private static EmbeddedOptions options(Map<String, String> more) {
        Map<String, String> quick = new HashMap<>(Map.of("repl-diskless-sync-delay", "0"));
        quick.putAll(more);
        return EmbeddedOptions.defaults()
                .withSupervised(false)
                .withBinaries(ROOT.resolve("bin"))
                .withRedisSettings(quick);
    }

    /** {@code kill -9}. */
    void kill(int number) {
        processes.get(number).kill();
    }

    /** SIGSTOP: its kernel goes on to answer for its connections. */
    void freeze(int number) {
        signal(number, "STOP");
    }

    /** SIGCONT. */
    void thaw(int number) {
        signal(number, "CONT");
    }

    private void signal(int number, String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid(number)))
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** One that was killed comes back with its data, and its port. */
    void startAgain(int number) {
        int before = port(number);
        processes.get(number).close();
        processes.set(number, EmbeddedRedis.start(homes.get(number), options(settings.get(number))));
        if (port(number) != before) {
            throw new IllegalStateException("somebody else took the port " + before);
        }
    }

    Path directory() {
        return directory;
    }

    int port(int number) {
        return processes.get(number).port();
    }

    String address(int number) {
        return "127.0.0.1:" + port(number);
    }

    long pid(int number) {
        return processes.get(number).pid();
    }

    int count() {
        return processes.size();
    }

    /** {@code :password@}. */
    String userInfo() {
        return ":" + PASSWORD + "@";
    }

    String password() {
        return PASSWORD;
    }

    Jedis client(int number) {
        return new Jedis(URI.create(processes.get(number).url()));
    }

    /** Below those of outgoing connections, so that nobody who looks for a dead server here finds himself. */
    static int freePort() {
        for (int tries = 0; tries < 200; tries++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 16_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                // another one
            }
        }
        throw new IllegalStateException("no free port");
    }

    @Override
    public void close() {
        processes.forEach(EmbeddedRedis::close);
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
