package dev.hongbao.common.config;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The Postgres that holds the truth.
 *
 * @param url null starts one as a child process
 * @param ownerUrl the same database as the tables' owner, for migrations; null is {@code url}
 * @param poolSize connections for requests
 * @param maxWaitQueue requests that may wait for a connection
 */
public record PostgresConfig(
        @Nullable SecretUrl url, @Nullable SecretUrl ownerUrl, int poolSize, int maxWaitQueue) {
    public PostgresConfig {
        Options.POSTGRES_URL.require(Optional.ofNullable(url));
        Options.POSTGRES_OWNER_URL.require(Optional.ofNullable(ownerUrl));
        Options.POSTGRES_POOL_SIZE.require(poolSize);
        Options.POSTGRES_MAX_WAIT_QUEUE.require(maxWaitQueue);
    }

    static PostgresConfig from(OptionValues values) {
        return new PostgresConfig(
                values.get(Options.POSTGRES_URL, Options.POSTGRES_URL_FILE).orElse(null),
                values.get(Options.POSTGRES_OWNER_URL, Options.POSTGRES_OWNER_URL_FILE)
                        .orElse(null),
                values.get(Options.POSTGRES_POOL_SIZE),
                values.get(Options.POSTGRES_MAX_WAIT_QUEUE));
    }

    /** Whether the server starts its own. */
    public boolean isEmbedded() {
        return url == null;
    }

    /** The URL for migrations: the owner's when there is one; null when the server starts its own Postgres. */
    public @Nullable SecretUrl migrationUrl() {
        return ownerUrl != null ? ownerUrl : url;
    }
}
