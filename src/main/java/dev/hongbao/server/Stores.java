package dev.hongbao.server;

import dev.hongbao.common.config.ConfigException;
import dev.hongbao.common.config.ConfigFault;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.PostgresConfig;
import dev.hongbao.common.config.RedisConfig;
import dev.hongbao.common.config.SecretUrl;
import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.embedded.EmbeddedRedis;
import dev.hongbao.engine.embedded.EmbeddedServers;
import dev.hongbao.engine.embedded.ServerUrls;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.engine.redis.RedisAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The stores of one server: those configured, and children of this process in place of those that are not. Blocking.
 */
public final class Stores implements AutoCloseable {
    private static final int OTHER_CONNECTIONS = 32;

    private final StoreAddresses addresses;
    private final StoreAddresses adminAddresses;
    private final @Nullable AutoCloseable children;

    /** @param redisAdmin the Redis as who may do all; null for who is configured */
    private Stores(StoreAddresses addresses, @Nullable String redisAdmin, @Nullable AutoCloseable children) {
        this.addresses = addresses;
        this.adminAddresses = redisAdmin == null
                ? addresses
                : new StoreAddresses(redisAdmin, addresses.namespace(), addresses.owner(), addresses.app());
        this.children = children;
    }

    /**
     * Finds the configured stores or starts children.
     *
     * @throws dev.hongbao.engine.embedded.EmbeddedStartException when a child cannot start; its message is for the operator
     */
    public static Stores open(HongbaoConfig config) {
        Path data = config.engine().data().dir();
        EmbeddedOptions options = EmbeddedOptions.defaults()
                .withPostgresSettings(Map.of("max_connections", Integer.toString(connections(config))));
        boolean ownRedis = config.engine().redis().isEmbedded();
        boolean ownPostgres = config.engine().postgres().isEmbedded();
        if (ownRedis && ownPostgres) {
            EmbeddedServers servers = EmbeddedServers.start(data, options);
            return embedded(config, servers.urls(), servers);
        }
        if (ownRedis) {
            EmbeddedRedis redis = EmbeddedRedis.start(data, options);
            return new Stores(
                    new StoreAddresses(redis.appUrl(), config.engine().redis().namespace(), owner(config), app(config)),
                    redis.url(),
                    redis);
        }
        if (ownPostgres) {
            EmbeddedPostgres postgres = EmbeddedPostgres.start(data, options);
            return new Stores(
                    new StoreAddresses(
                            redisUrl(config),
                            config.engine().redis().namespace(),
                            PostgresAddress.of(postgres.ownerUrl()),
                            PostgresAddress.of(postgres.appUrl())),
                    null,
                    postgres);
        }
        return new Stores(
                new StoreAddresses(redisUrl(config), config.engine().redis().namespace(), owner(config), app(config)),
                null,
                null);
    }

    /** @throws ConfigException when a store is not configured and this jar has none to start */
    static void require(HongbaoConfig config) {
        boolean redis = config.engine().redis().isEmbedded();
        boolean postgres = config.engine().postgres().isEmbedded();
        if ((redis || postgres) && !EmbeddedServers.areOnTheClassPath()) {
            String missing = redis && postgres ? "redis.url, postgres.url" : redis ? "redis.url" : "postgres.url";
            throw new ConfigException(List.of(new ConfigFault(
                    missing,
                    "not set",
                    "this jar has no embedded stores: set redis.url and postgres.url, or use hongbao.jar")));
        }
    }

    /**
     * The stores of a server that may be at work: the configured ones, or the children of the process that owns the data
     * directory; when none does, children of this process until {@link #close}. For commands that only look: nothing is made.
     *
     * @throws ConfigException when the data directory holds no data, or this jar has no stores for it
     */
    public static Stores join(HongbaoConfig config) {
        if (config.engine().redis().isEmbedded() && config.engine().postgres().isEmbedded()) {
            Optional<ServerUrls> running =
                    EmbeddedServers.running(config.engine().data().dir());
            if (running.isPresent()) {
                return embedded(config, running.get(), null);
            }
        }
        require(config);
        DataRules.requireData(config);
        return open(config);
    }

    /** Besides the pool's: the writer's, the locks', the owner's, and a few for people who look into it. */
    private static int connections(HongbaoConfig config) {
        return Math.max(
                EmbeddedPostgres.MAX_CONNECTIONS, config.engine().postgres().poolSize() + OTHER_CONNECTIONS);
    }

    private static Stores embedded(HongbaoConfig config, ServerUrls urls, @Nullable AutoCloseable children) {
        StoreAddresses addresses = new StoreAddresses(
                urls.redis(),
                config.engine().redis().namespace(),
                PostgresAddress.of(urls.postgresOwner()),
                PostgresAddress.of(urls.postgresApp()));
        return new Stores(addresses, urls.redisAdmin(), children);
    }

    /** The Redis of a server that may be at work: the configured one, or its child; empty when that does not run. Nothing is started. */
    static Optional<String> redisAtWork(HongbaoConfig config) {
        return config.engine().redis().isEmbedded()
                ? EmbeddedRedis.running(config.engine().data().dir())
                : Optional.of(redisUrl(config));
    }

    /** The same of Postgres. */
    static Optional<PostgresAddress> postgresAtWork(HongbaoConfig config) {
        return config.engine().postgres().isEmbedded()
                ? EmbeddedPostgres.running(config.engine().data().dir()).map(PostgresAddress::of)
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

    /** The same with a Redis that may do all, where it is a child: for who races other ways on it, or looks into its keys. */
    public StoreAddresses adminAddresses() {
        return adminAddresses;
    }

    /** Stops the children; configured stores are left alone. */
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
}
