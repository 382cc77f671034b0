package dev.hongbao.store;

import dev.hongbao.store.postgres.PostgresAddress;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of the stores.
 *
 * @param redisUrl {@code redis://[:password@]host:port}; holds a password, never log it
 * @param namespace the installation's name in every key of Redis; null for the one in Postgres
 * @param owner the role that migrates
 * @param app the server's role; may be the owner
 */
public record StoreAddresses(String redisUrl, @Nullable String namespace, PostgresAddress owner, PostgresAddress app) {
    /** Takes the namespace from Postgres. */
    public StoreAddresses(String redisUrl, PostgresAddress owner, PostgresAddress app) {
        this(redisUrl, null, owner, app);
    }

    @Override
    public String toString() {
        return "Redis and " + app;
    }
}
