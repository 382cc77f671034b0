package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The Redis that decides who was first; a {@code url} that is null starts one as a child process. */
public record RedisConfig(
        @ConfigOption(
                path = "redis.url",
                kind = Kind.REDIS_URL,
                doc = "The Redis that decides who was first: one server, some nodes of a Redis Cluster, or the"
                        + " sentinels of one; empty starts one as a child process.")
        @Nullable
        SecretUrl url,

        @ConfigOption(
                path = "redis.namespace",
                kind = Kind.NAME,
                doc = "What every key in Redis names, so that installations can share one; empty takes it from an"
                        + " id in Postgres. A copy of a database that works on the same Redis needs another.")
        @Nullable
        String namespace,

        @ConfigOption(
                path = "redis.command-timeout",
                range = "10ms … 1m",
                unset = "2s",
                doc = "A Redis command without an answer for so long counts as unknown.")
        Duration commandTimeout,

        @ConfigOption(
                path = "redis.tls-authority",
                doc = "With rediss://: the certificate (PEM) of the authority that signed Redis' certificate."
                        + " Empty: what the JVM trusts.")
        @Nullable
        Path tlsAuthority) {
    /** Whether the server starts its own. */
    public boolean isEmbedded() {
        return url == null;
    }
}
