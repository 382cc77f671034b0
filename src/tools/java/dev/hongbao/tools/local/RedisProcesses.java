package dev.hongbao.tools.local;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedRedis;
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
import redis.clients.jedis.Jedis;

/** Redis processes that belong together: one password, each in a directory of its own, not supervised. Confined to one thread; blocking. */
public final class RedisProcesses implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path directory;
    private final Path binaries;
    private final String password;
    private final List<Path> homes = new ArrayList<>();
    private final List<Map<String, String>> settings = new ArrayList<>();
    private final List<EmbeddedRedis> processes = new ArrayList<>();

    /**
     * None yet.
     *
     * @param directory made for them, and deleted with them
     * @param binaries where the program is unpacked, once; stays
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
            Files.createFile(
                    secrets.resolve("redis"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
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

    /** SIGSTOP: its kernel goes on to answer for its connections. */
    public void freeze(int number) {
        Signals.freeze(pid(number));
    }

    /** SIGCONT. */
    public void thaw(int number) {
        Signals.thaw(pid(number));
    }

    /** One that was killed comes back with its data, and its port. */
    public void startAgain(int number) {
        int before = port(number);
        processes.get(number).close();
        processes.set(number, EmbeddedRedis.start(homes.get(number), options(settings.get(number))));
        if (port(number) != before) {
            throw new IllegalStateException("somebody else took the port " + before);
        }
    }

    public Path directory() {
        return directory;
    }

    public int port(int number) {
        return processes.get(number).port();
    }

    /** Host and port. */
    public String address(int number) {
        return "127.0.0.1:" + port(number);
    }

    public long pid(int number) {
        return processes.get(number).pid();
    }

    public int count() {
        return processes.size();
    }

    /** {@code :password@}, of all of them. */
    public String userInfo() {
        return ":" + password + "@";
    }

    public String password() {
        return password;
    }

    /** {@code redis://:password@host:port} of one. */
    public String url(int number) {
        return processes.get(number).url();
    }

    /** A new client of one, which follows nothing. */
    public Jedis client(int number) {
        return new Jedis(URI.create(url(number)));
    }

    /** Stops all, and deletes what they wrote. */
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
