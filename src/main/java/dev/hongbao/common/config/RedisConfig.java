package dev.hongbao.common.config;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The Redis that decides who was first.
 *
 * @param url null starts one as a child process
 * @param namespace what every key names; null takes it from the installation's row in Postgres
 * @param commandTimeout after which a command's outcome counts as unknown
 */
public record RedisConfig(@Nullable SecretUrl url, @Nullable String namespace, Duration commandTimeout) {
    public RedisConfig {
        Options.REDIS_URL.require(Optional.ofNullable(url));
        Options.REDIS_NAMESPACE.require(Optional.ofNullable(namespace));
        Options.REDIS_COMMAND_TIMEOUT.require(commandTimeout);
    }

    static RedisConfig from(OptionValues values) {
        return new RedisConfig(
                values.get(Options.REDIS_URL, Options.REDIS_URL_FILE).orElse(null),
                values.get(Options.REDIS_NAMESPACE).orElse(null),
                values.get(Options.REDIS_COMMAND_TIMEOUT));
    }

    /** Whether the server starts its own. */
    public boolean isEmbedded() {
        return url == null;
    }
}
