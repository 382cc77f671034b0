package dev.hongbao.server;

import dev.hongbao.postgres.PostgresAddress;

/**
 * Where the stores are.
 *
 * @param redisUrl {@code redis://[:password@]host:port}; holds a password, never log it
 * @param owner the role that migrates
 * @param app the role that the server works as; may be the same
 */
public record StoreAddresses(String redisUrl, PostgresAddress owner, PostgresAddress app) {
    @Override
    public String toString() {
        return "Redis and " + app;
    }
}
