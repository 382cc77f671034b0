package dev.hongbao.store;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.HongbaoConfig.PostgresConfig;
import dev.hongbao.config.HongbaoConfig.RedisConfig;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.embedded.EmbeddedServers;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.embedded.EmbeddedServers.Urls;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.store.redis.RedisAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The stores of one server: configured stores, and embedded ones, children of this process, in place of the others. Blocking.
 */
public final class Stores implements AutoCloseable {
    private static final int OTHER_CONNECTIONS = 32;
    private static final String OTHER_DATA = "name the server's directory with --data-dir or HONGBAO_DATA_DIR";

    private final StoreAddresses addresses;
    private final StoreAddresses adminAddresses;
    private final @Nullable AutoCloseable children;

    /**
     * @param redis of the embedded one; null for the configured one
     * @param postgres of the embedded one; null for the configured one
     */
    private Stores(
            HongbaoConfig config, @Nullable Urls redis, @Nullable Urls postgres, @Nullable AutoCloseable children) {
        this.addresses = new StoreAddresses(
                redis == null ? redisUrl(config) : redis.app(),
                config.engine().redis().namespace(),
                postgres == null ? owner(config) : PostgresAddress.of(postgres.owner()),
                postgres == null ? app(config) : PostgresAddress.of(postgres.app()));
        this.adminAddresses = redis == null
                ? addresses
                : new StoreAddresses(redis.owner(), addresses.namespace(), addresses.owner(), addresses.app());
        this.children = children;
    }

    /**
     * Starts the embedded stores.
     *
     * @throws dev.hongbao.store.embedded.EmbeddedStartException if a child cannot start; its message is for the operator
     */
    public static Stores open(HongbaoConfig config) {
        Path data = config.engine().dataDir();
        EmbeddedOptions options = EmbeddedOptions.defaults()
                .withPostgresSettings(Map.of("max_connections", Integer.toString(connections(config))));
        boolean ownRedis = config.engine().redis().isEmbedded();
        boolean ownPostgres = config.engine().postgres().isEmbedded();
        if (ownRedis && ownPostgres) {
            EmbeddedServers servers = EmbeddedServers.start(data, options);
            return new Stores(config, servers.redis().urls(), servers.postgres().urls(), servers);
        }
        EmbeddedRedis redis = ownRedis ? EmbeddedRedis.start(data, options) : null;
        EmbeddedPostgres postgres = ownPostgres ? EmbeddedPostgres.start(data, options) : null;
        return new Stores(
                config,
                redis == null ? null : redis.urls(),
                postgres == null ? null : postgres.urls(),
                redis == null ? postgres : redis);
    }

    /** @throws ConfigException if a store is not configured and this jar has no embedded stores */
    public static void require(HongbaoConfig config) {
        boolean redis = config.engine().redis().isEmbedded();
        boolean postgres = config.engine().postgres().isEmbedded();
        if ((redis || postgres) && !EmbeddedServers.areOnTheClassPath()) {
            String missing = redis && postgres ? "redis.url, postgres.url" : redis ? "redis.url" : "postgres.url";
            throw new ConfigException(List.of(new ConfigException.Fault(
                    missing,
                    "not set",
                    "this jar has no embedded stores: set redis.url and postgres.url, or use hongbao.jar")));
        }
    }

    /**
     * The stores of a server, whether it runs or not, for commands that only read: configured stores, or the children of the process that owns the
     * data directory. Without such a process, they are children of this one until {@link #close}. It creates no data.
     *
     * @throws ConfigException if the data directory has no data, or this jar no embedded stores
     */
    public static Stores join(HongbaoConfig config) {
        Path data = config.engine().dataDir();
        boolean ownRedis = config.engine().redis().isEmbedded();
        boolean ownPostgres = config.engine().postgres().isEmbedded();
        Urls redis = ownRedis ? EmbeddedRedis.running(data).orElse(null) : null;
        Urls postgres = ownPostgres ? EmbeddedPostgres.running(data).orElse(null) : null;
        // One server owns the directory: another cannot start the missing store beside it.
        if (ownRedis == (redis != null) && ownPostgres == (postgres != null)) {
            return new Stores(config, redis, postgres, null);
        }
        require(config);
        requireData(config);
        return open(config);
    }

    /** @throws ConfigException if the data directory lacks the data of an embedded store */
    private static void requireData(HongbaoConfig config) {
        Path dir = config.engine().dataDir();
        boolean redis = config.engine().redis().isEmbedded();
        boolean postgres = config.engine().postgres().isEmbedded();
        if ((redis && !EmbeddedServers.hasRedisData(dir)) || (postgres && !EmbeddedServers.hasPostgresData(dir))) {
            String missing = redis && postgres ? "no data of a server" : redis ? "no Redis data" : "no Postgres data";
            throw faultOfData(dir, "holds " + missing + "; " + OTHER_DATA);
        }
    }

    /** For commands that only read: a mistyped directory must not be created. @throws ConfigException if the data directory does not exist */
    public static void requireDirectory(HongbaoConfig config) {
        if (!Files.isDirectory(config.engine().dataDir())) {
            throw faultOfData(config.engine().dataDir(), "does not exist; " + OTHER_DATA);
        }
    }

    private static ConfigException faultOfData(Path dir, String problem) {
        return new ConfigException(List.of(new ConfigException.Fault(
                "data.dir", dir.toAbsolutePath().normalize().toString(), problem)));
    }

    /** Leaves room beside the pool for the writer, the locks, the owner's work, and some operators. */
    private static int connections(HongbaoConfig config) {
        return Math.max(
                EmbeddedPostgres.MAX_CONNECTIONS, config.engine().postgres().poolSize() + OTHER_CONNECTIONS);
    }

    /** The configured Redis, or a running server's embedded one; empty if no server runs. It starts nothing. */
    public static Optional<String> redisAtWork(HongbaoConfig config) {
        return config.engine().redis().isEmbedded()
                ? EmbeddedRedis.running(config.engine().dataDir()).map(Urls::app)
                : Optional.of(redisUrl(config));
    }

    /** The configured Postgres, or a running server's embedded one; empty if no server runs. It starts nothing. */
    public static Optional<PostgresAddress> postgresAtWork(HongbaoConfig config) {
        return config.engine().postgres().isEmbedded()
                ? EmbeddedPostgres.running(config.engine().dataDir()).map(urls -> PostgresAddress.of(urls.app()))
                : Optional.of(app(config));
    }

    private static String redisUrl(HongbaoConfig config) {
        RedisConfig redis = config.engine().redis();
        return RedisAddress.withAuthority(Objects.requireNonNull(redis.url()).value(), redis.tlsAuthority());
    }

    private static PostgresAddress app(HongbaoConfig config) {
        PostgresConfig postgres = config.engine().postgres();
        return PostgresAddress.of(Objects.requireNonNull(postgres.url()).value(), postgres.tlsAuthority());
    }

    private static PostgresAddress owner(HongbaoConfig config) {
        SecretUrl url = Objects.requireNonNull(config.engine().postgres().migrationUrl());
        return PostgresAddress.of(url.value(), config.engine().postgres().tlsAuthority());
    }

    public StoreAddresses addresses() {
        return addresses;
    }

    /** The addresses with all rights in an embedded Redis: for benchmarks of other designs, and for a look at its keys. */
    public StoreAddresses adminAddresses() {
        return adminAddresses;
    }

    /** Stops the children, and leaves configured stores alone. */
    @Override
    public void close() {
        try {
            if (children != null) {
                children.close();
            }
        } catch (Exception fault) {
            throw new IllegalStateException("a child did not stop: " + fault.getMessage(), fault);
        }
    }

    /**
     * The addresses of the stores.
     *
     * @param redisUrl {@code redis://[:password@]host:port}; holds a password, never log it
     * @param namespace the installation's name in every key of Redis; null for the one in Postgres
     * @param owner the role that migrates
     * @param app the server's role; may be the owner
     */
    public record StoreAddresses(
            String redisUrl, @Nullable String namespace, PostgresAddress owner, PostgresAddress app) {
        /** Takes the namespace from Postgres. */
        public StoreAddresses(String redisUrl, PostgresAddress owner, PostgresAddress app) {
            this(redisUrl, null, owner, app);
        }

        @Override
        public String toString() {
            return "Redis and " + app;
        }
    }
}
