package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The Postgres that holds the truth; a {@code url} that is null starts one as a child process. */
public record PostgresConfig(
        @ConfigOption(
                path = "postgres.url",
                kind = Kind.POSTGRES_URL,
                doc = "The Postgres that holds the truth; empty starts one as a child process.")
        @Nullable
        SecretUrl url,

        @ConfigOption(
                path = "postgres.owner-url",
                kind = Kind.POSTGRES_URL,
                doc = "The same database as the role that owns the tables, for migrations; empty is postgres.url.")
        @Nullable
        SecretUrl ownerUrl,

        @ConfigOption(
                path = "postgres.tls-authority",
                doc = "With sslmode=verify-ca or verify-full: the certificate (PEM) of the authority that signed"
                        + " Postgres' certificate. Empty: what the JVM trusts.")
        @Nullable
        Path tlsAuthority,

        @ConfigOption(
                path = "postgres.pool-size",
                range = "2 … 200 connections",
                unset = "8",
                doc = "Connections to Postgres for requests.")
        int poolSize) {
    /** Whether the server starts its own. */
    public boolean isEmbedded() {
        return url == null;
    }

    /** The URL for migrations: the owner's when there is one; null when the server starts its own Postgres. */
    public @Nullable SecretUrl migrationUrl() {
        return ownerUrl != null ? ownerUrl : url;
    }
}
