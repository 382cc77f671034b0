package dev.hongbao.server;

import dev.hongbao.engine.postgres.PostgresAddress;
import org.jspecify.annotations.Nullable;

/**
 * Where the stores are.
 *
 * @param redisUrl {@code redis://[:password@]host:port}; holds a password, never log it
 * @param namespace what every key in Redis names; null takes it from Postgres
 * @param owner the role that migrates
 * @param app the role that the server works as; may be the same
 */
public record StoreAddresses(String redisUrl, @Nullable String namespace, PostgresAddress owner, PostgresAddress app) {
    /** With the namespace that Postgres tells. */
    public StoreAddresses(String redisUrl, PostgresAddress owner, PostgresAddress app) {
        this(redisUrl, null, owner, app);
    }

    @Override
    public String toString() {
        return "Redis and " + app;
    }
}
