package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The Postgres that holds the truth. A null {@code url} starts one as a child process. */
public record PostgresConfig(
        @ConfigOption(
                path = "postgres.url",
                kind = Kind.POSTGRES_URL,
                doc = "The Postgres that holds the truth. Empty starts one as a child process.")
        @Nullable
        SecretUrl url,

        @ConfigOption(
                path = "postgres.owner-url",
                kind = Kind.POSTGRES_URL,
                doc = "The URL for migrations: this database, with the role that owns the tables. Empty is"
                        + " postgres.url.")
        @Nullable
        SecretUrl ownerUrl,

        @ConfigOption(
                path = "postgres.tls-authority",
                doc = "With sslmode=verify-ca or verify-full: the certificate (PEM) of the authority that signed"
                        + " Postgres' certificate. Empty: the authorities that the JVM trusts.")
        @Nullable
        Path tlsAuthority,

        @ConfigOption(
                path = "postgres.pool-size",
                range = "2 … 200 connections",
                unset = "8",
                doc = "Connections to Postgres for requests.")
        int poolSize) {
    /** Whether the server starts its own Postgres. */
    public boolean isEmbedded() {
        return url == null;
    }

    /** The URL for migrations: the owner's if set. Null when the server starts its own Postgres. */
    public @Nullable SecretUrl migrationUrl() {
        return ownerUrl != null ? ownerUrl : url;
    }
}
