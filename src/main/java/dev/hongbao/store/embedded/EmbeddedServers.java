package dev.hongbao.store.embedded;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Redis and Postgres for a server with nothing configured. Thread-safe; blocking, so keep it off event loops.
 *
 * <pre>{@code
 * try (EmbeddedServers servers = EmbeddedServers.start(Path.of("data"), EmbeddedOptions.defaults())) {
 *     serve(servers.urls());
 * }
 * }</pre>
 */
public final class EmbeddedServers implements AutoCloseable {
    private static final String URLS = "secrets/urls";

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
        data.forget(URLS);
        CompletableFuture<EmbeddedRedis> redis = inThread(() -> EmbeddedRedis.start(data, options, false));
        CompletableFuture<EmbeddedPostgres> postgres = inThread(() -> EmbeddedPostgres.start(data, options, false));
        try {
            EmbeddedServers servers = new EmbeddedServers(data, redis.join(), postgres.join());
            Urls urls = servers.urls();
            DataDirectory.write(
                    data.path(URLS),
                    String.join(
                            "\n",
                            urls.redis(),
                            urls.redisAdmin(),
                            urls.postgresOwner(),
                            urls.postgresApp(),
                            urls.postgresAdmin()));
            return servers;
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

    /**
     * The servers that another process keeps running on this directory, for commands that inspect them; empty if none. They may
     * be gone a moment later.
     */
    public static Optional<Urls> running(Path dataDir) {
        Path file = dataDir.resolve(URLS);
        if (!Files.exists(file) || !DataDirectory.taken(dataDir)) {
            return Optional.empty();
        }
        List<String> urls = DataDirectory.read(file).lines().toList();
        return Optional.of(new Urls(urls.get(0), urls.get(1), urls.get(2), urls.get(3), urls.get(4)));
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

    public Urls urls() {
        return new Urls(redis.appUrl(), redisUrl(), postgresUrl(), postgresAppUrl(), postgres.adminUrl());
    }

    /** For the administrator: {@code redis://:password@127.0.0.1:port}. */
    public String redisUrl() {
        return redis.url();
    }

    /** For the database's owner, who runs the migrations: {@code postgresql://hongbao_owner:password@127.0.0.1:port/hongbao}. */
    public String postgresUrl() {
        return postgres.ownerUrl();
    }

    /** For the application's role: {@code postgresql://hongbao:password@127.0.0.1:port/hongbao}. */
    public String postgresAppUrl() {
        return postgres.appUrl();
    }

    /** The child itself, with its pid and the means to kill it. */
    public EmbeddedRedis redis() {
        return redis;
    }

    /** The child itself, with its pid and the means to kill it. */
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
        data.forget(URLS);
        data.close();
    }

    /**
     * The addresses and logins of the servers.
     *
     * @param redis {@code redis://hongbao:password@127.0.0.1:port}: the commands that the server needs
     * @param redisAdmin {@code redis://:password@127.0.0.1:port}: all commands, for tests and benchmarks
     * @param postgresOwner {@code postgresql://hongbao_owner:…/hongbao}: owns the database, runs migrations
     * @param postgresApp {@code postgresql://hongbao:…/hongbao}: may connect; migrations grant it the tables
     * @param postgresAdmin {@code postgresql://postgres:…/postgres}: the superuser, for the launcher and for tests
     */
    public record Urls(
            String redis, String redisAdmin, String postgresOwner, String postgresApp, String postgresAdmin) {
        /** Without the passwords: safe to log. */
        @Override
        public String toString() {
            return "Urls[" + hide(redis) + ", " + hide(postgresOwner) + "]";
        }

        private static String hide(String url) {
            return url.replaceFirst("//.*@", "//");
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
