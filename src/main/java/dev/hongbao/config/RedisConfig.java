package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The Redis that decides the order of claims. A null {@code url} starts one as a child process. */
public record RedisConfig(
        @ConfigOption(
                path = "redis.url",
                kind = Kind.REDIS_URL,
                doc = "The Redis that decides the order of claims: one server, some nodes of a Redis Cluster, or"
                        + " the sentinels of one server. Empty starts one as a child process.")
        @Nullable
        SecretUrl url,

        @ConfigOption(
                path = "redis.namespace",
                kind = Kind.NAME,
                doc = "The name in every key of Redis, so that installations can share a Redis. Empty: an id in"
                        + " Postgres. A copy of a database that uses the same Redis needs another name.")
        @Nullable
        String namespace,

        @ConfigOption(
                path = "redis.command-timeout",
                range = "10ms … 1m",
                unset = "2s",
                doc = "The outcome of a Redis command without an answer after this time is unknown.")
        Duration commandTimeout,

        @ConfigOption(
                path = "redis.tls-authority",
                doc = "With rediss://: the certificate (PEM) of the authority that signed Redis' certificate."
                        + " Empty: the authorities that the JVM trusts.")
        @Nullable
        Path tlsAuthority) {
    /** Whether the server starts its own Redis. */
    public boolean isEmbedded() {
        return url == null;
    }
}
