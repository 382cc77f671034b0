package dev.hongbao.engine.postgres;

import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address and login of a Postgres database, parsed from a URL.
 *
 * @param url {@code postgresql://user:password@host:port/database[?sslmode=...]}
 * @param authority the CA file (PEM) for the server's certificate; null for the JVM's trust store
 */
public record PostgresAddress(
        String url,
        Server server,
        String database,
        Login login,
        SslMode sslMode,
        @Nullable Path authority) {
    private static final Pattern SCHEMA = Pattern.compile("[?&](?:search_path|currentSchema)=([^&]*)");

    public record Server(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    public record Login(String user, String password) {
        /** Without the password. */
        @Override
        public String toString() {
            return user;
        }
    }

    /** @throws IllegalArgumentException if the URL is malformed or names no user or database */
    public static PostgresAddress of(String url) {
        return of(url, null);
    }

    /**
     * @param authority the CA file (PEM) for the server's certificate; null for the JVM's trust store
     * @throws IllegalArgumentException if the URL is malformed or names no user or database
     */
    public static PostgresAddress of(String url, @Nullable Path authority) {
        PgConnectOptions read = PgConnectOptions.fromUri(url);
        return new PostgresAddress(
                url,
                new Server(read.getHost(), read.getPort()),
                read.getDatabase(),
                new Login(read.getUser(), read.getPassword()),
                read.getSslMode(),
                authority);
    }

    /** Fresh connection options for the reactive client, with prepared statements cached. */
    public PgConnectOptions connectOptions() {
        PgConnectOptions options = PgConnectOptions.fromUri(url);
        String schema = schema();
        if (schema != null) {
            options.addProperty("search_path", schema);
        }
        return options.setSslOptions(PostgresTls.options(sslMode, authority))
                .setCachePreparedStatements(true)
                .setPreparedStatementCacheMaxSize(256)
                .addProperty("application_name", "hongbao")
                // Settled means committed (invariant I5), whatever the role's or the server's default is.
                .addProperty("synchronous_commit", "on")
                // Statements wait for each other's rows and go on; a stricter default would refuse them (40001).
                .addProperty("default_transaction_isolation", "read committed")
                // A host that vanishes silently must not keep its locks for hours.
                .addProperty("tcp_keepalives_idle", "5")
                .addProperty("tcp_keepalives_interval", "2")
                .addProperty("tcp_keepalives_count", "3")
                .addProperty("idle_in_transaction_session_timeout", "5s");
    }

    /** The JDBC URL of the database, without the user and the password. */
    public String jdbcUrl() {
        int query = url.indexOf('?');
        String parameters = query < 0 ? "" : url.substring(query) + PostgresTls.jdbcParameters(sslMode, authority);
        String schema = schema();
        if (schema != null) {
            parameters += "&currentSchema=" + schema;
        }
        return "jdbc:postgresql://" + server + "/" + database + parameters;
    }

    /** The schema of the tables, by either client's parameter name; null for the role's default. */
    private @Nullable String schema() {
        Matcher named = SCHEMA.matcher(url);
        return named.find() ? named.group(1) : null;
    }

    @Override
    public String toString() {
        return "postgresql://" + login + "@" + server + "/" + database;
    }
}
