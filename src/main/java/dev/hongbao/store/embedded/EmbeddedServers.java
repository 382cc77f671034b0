package dev.hongbao.store.embedded;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Redis and Postgres for a server with nothing configured. Thread-safe; blocking, so keep it off event loops.
 *
 * <pre>{@code
 * try (EmbeddedServers servers = EmbeddedServers.start(Path.of("data"), EmbeddedOptions.defaults())) {
 *     serve(servers.redis().urls(), servers.postgres().urls());
 * }
 * }</pre>
 */
public final class EmbeddedServers implements AutoCloseable {
    private final DataDirectory data;
    private final EmbeddedRedis redis;
    private final EmbeddedPostgres postgres;

    private EmbeddedServers(DataDirectory data, EmbeddedRedis redis, EmbeddedPostgres postgres) {
        this.data = data;
        this.redis = redis;
        this.postgres = postgres;
    }

    /**
     * Starts both in parallel; returns when both answer. The first start on a directory unpacks the binaries and the database
     * (about a second). A later start takes about 0.3 s and finds the data again.
     *
     * @throws InUseException if another server owns the directory
     * @throws EmbeddedStartException if one cannot be started; then neither runs. The message is for the operator
     */
    public static EmbeddedServers start(Path dataDir, EmbeddedOptions options) {
        Platform.current();
        DataDirectory data = DataDirectory.take(dataDir);
        CompletableFuture<EmbeddedRedis> redis = inThread(() -> EmbeddedRedis.start(data, options, false));
        CompletableFuture<EmbeddedPostgres> postgres = inThread(() -> EmbeddedPostgres.start(data, options, false));
        try {
            return new EmbeddedServers(data, redis.join(), postgres.join());
        } catch (CompletionException e) {
            closeWhenStarted(redis);
            closeWhenStarted(postgres);
            data.close();
            if (e.getCause() instanceof EmbeddedStartException cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** Whether this jar has servers to start: {@code hongbao-server.jar} has none. */
    public static boolean areOnTheClassPath() {
        return Platform.anyIsOnTheClassPath();
    }

    /** Whether the directory holds data of an earlier Redis. */
    public static boolean hasRedisData(Path dataDir) {
        return Files.isDirectory(dataDir.resolve("redis"));
    }

    /** Whether the directory holds data of an earlier Postgres. */
    public static boolean hasPostgresData(Path dataDir) {
        return Files.isDirectory(dataDir.resolve("postgres"));
    }

    private static <T> CompletableFuture<T> inThread(Supplier<T> start) {
        return CompletableFuture.supplyAsync(start, task -> new Thread(task, "embedded-start").start());
    }

    private static void closeWhenStarted(CompletableFuture<? extends AutoCloseable> start) {
        try {
            start.join().close();
        } catch (Exception notStarted) {
            // the first failure is the one to report
        }
    }

    /** The child itself, with its URLs, its pid and the means to kill it. */
    public EmbeddedRedis redis() {
        return redis;
    }

    /** The child itself, with its URLs, its pid and the means to kill it. */
    public EmbeddedPostgres postgres() {
        return postgres;
    }

    /** Stops both in parallel and releases the directory. Idempotent; at most 10 s, usually 0.3 s. */
    @Override
    public void close() {
        redis.requestStop();
        postgres.requestStop();
        redis.close();
        postgres.close();
        data.close();
    }

    /**
     * The address of one store, with two logins.
     *
     * @param app with the rights that the server needs
     * @param owner of Redis with all rights, for tests and benchmarks; of Postgres the database's owner, who runs migrations
     */
    public record Urls(String app, String owner) {
        /** Without the passwords: safe to log. */
        @Override
        public String toString() {
            return app.replaceFirst("//.*@", "//");
        }
    }

    /** Another server, in this JVM or in another one, owns the data directory. */
    public static final class InUseException extends EmbeddedStartException {
        private static final long serialVersionUID = 1L;

        InUseException(Path directory) {
            super("the data directory " + directory + " is in use by another server; stop that one or choose another"
                    + " directory");
        }
    }

    /**
     * The options of the child processes.
     *
     * @param supervised whether a child that ends by itself is started again
     * @param binaries the directory for the unpacked binaries, which several data directories may share; null for {@code bin} in the
     *     data directory
     * @param redisSettings further lines of redis.conf, by name; they override ours
     * @param postgresSettings further settings of Postgres, by name; they override ours
     */
    public record EmbeddedOptions(
            boolean supervised,
            @Nullable Path binaries,
            Map<String, String> redisSettings,
            Map<String, String> postgresSettings) {

        public EmbeddedOptions {
            redisSettings = Map.copyOf(redisSettings);
            postgresSettings = Map.copyOf(postgresSettings);
        }

        /** Supervised, with binaries in the data directory and our settings. */
        public static EmbeddedOptions defaults() {
            return new EmbeddedOptions(true, null, Map.of(), Map.of());
        }

        public EmbeddedOptions withSupervised(boolean wanted) {
            return new EmbeddedOptions(wanted, binaries, redisSettings, postgresSettings);
        }

        public EmbeddedOptions withBinaries(Path directory) {
            return new EmbeddedOptions(supervised, directory, redisSettings, postgresSettings);
        }

        public EmbeddedOptions withRedisSettings(Map<String, String> settings) {
            return new EmbeddedOptions(supervised, binaries, settings, postgresSettings);
        }

        public EmbeddedOptions withPostgresSettings(Map<String, String> settings) {
            return new EmbeddedOptions(supervised, binaries, redisSettings, settings);
        }
    }
}
