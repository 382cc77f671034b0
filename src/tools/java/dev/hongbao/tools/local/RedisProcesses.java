package dev.hongbao.tools.local;

import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import redis.clients.jedis.Jedis;

/** Redis processes with one password, each in its own directory, without supervision. Confined to one thread; blocking. */
public final class RedisProcesses implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path directory;
    private final Path binaries;
    private final String password;
    private final List<Path> homes = new ArrayList<>();
    private final List<Map<String, String>> settings = new ArrayList<>();
    private final List<EmbeddedRedis> processes = new ArrayList<>();

    /**
     * Starts none yet.
     *
     * @param directory created, and deleted at the end
     * @param binaries gets the program, once; stays
     */
    public RedisProcesses(Path directory, Path binaries) {
        this.directory = directory;
        this.binaries = binaries;
        byte[] bits = new byte[16];
        RANDOM.nextBytes(bits);
        this.password = HexFormat.of().formatHex(bits);
    }

    /** Starts one more. @return its number, from 0 */
    public int start(Map<String, String> more) {
        Path home = directory.resolve(Integer.toString(homes.size()));
        try {
            Path secrets = Files.createDirectories(
                    home.resolve("secrets"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.writeString(secrets.resolve("redis"), password);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        homes.add(home);
        settings.add(Map.copyOf(more));
        processes.add(EmbeddedRedis.start(home, options(more)));
        return homes.size() - 1;
    }

    private EmbeddedOptions options(Map<String, String> more) {
        Map<String, String> quick = new HashMap<>(Map.of("repl-diskless-sync-delay", "0"));
        quick.putAll(more);
        return EmbeddedOptions.defaults()
                .withSupervised(false)
                .withBinaries(binaries)
                .withRedisSettings(quick);
    }

    /** {@code kill -9}. */
    public void kill(int number) {
        processes.get(number).kill();
    }

    /** SIGSTOP: its connections stay open, and the kernel answers for them. */
    public void freeze(int number) {
        ChildProcess.signal("STOP", pid(number));
    }

    /** SIGCONT. */
    public void thaw(int number) {
        ChildProcess.signal("CONT", pid(number));
    }

    /** After {@link #kill}: with its data, at its port. */
    public void startAgain(int number) {
        int before = port(number);
        processes.get(number).close();
        processes.set(number, EmbeddedRedis.start(homes.get(number), options(settings.get(number))));
        if (port(number) != before) {
            throw new IllegalStateException("another process took the port " + before);
        }
    }

    public Path directory() {
        return directory;
    }

    public int port(int number) {
        return processes.get(number).port();
    }

    public String address(int number) {
        return "127.0.0.1:" + port(number);
    }

    public long pid(int number) {
        return processes.get(number).pid();
    }

    public int count() {
        return processes.size();
    }

    /** {@code :password@}, the same for all. */
    public String userInfo() {
        return ":" + password + "@";
    }

    public String password() {
        return password;
    }

    /** {@code redis://:password@host:port} */
    public String url(int number) {
        return processes.get(number).url();
    }

    /** A new client of one node; it follows no redirection. */
    public Jedis client(int number) {
        return new Jedis(URI.create(url(number)));
    }

    /** Asks one node, over a connection of its own. */
    public <T> T on(int number, Function<Jedis, T> call) {
        try (Jedis redis = client(number)) {
            return call.apply(redis);
        }
    }

    /** Stops all, and deletes their files. */
    @Override
    public void close() {
        processes.forEach(EmbeddedRedis::close);
        try {
            Directories.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
