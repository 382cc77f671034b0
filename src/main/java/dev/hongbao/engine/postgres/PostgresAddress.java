package dev.hongbao.engine.postgres;

import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;

/**
 * Where a Postgres database is and as whom to work there, read once from a URL.
 *
 * @param url {@code postgresql://user:password@host:port/database[?sslmode=...]}
 */
public record PostgresAddress(String url, Server server, String database, Login login, SslMode sslMode) {
    /** A host and its port. */
    public record Server(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /** As whom to work there. */
    public record Login(String user, String password) {
        /** Without the password. */
        @Override
        public String toString() {
            return user;
        }
    }

    /**
     * @throws IllegalArgumentException when the URL is malformed or names no user or database
     */
    public static PostgresAddress of(String url) {
        PgConnectOptions read = PgConnectOptions.fromUri(url);
        return new PostgresAddress(
                url,
                new Server(read.getHost(), read.getPort()),
                read.getDatabase(),
                new Login(read.getUser(), read.getPassword()),
                read.getSslMode());
    }

    /** Fresh connection options for the reactive client, with prepared statements cached. */
    public PgConnectOptions connectOptions() {
        return PgConnectOptions.fromUri(url)
                .setSslOptions(PostgresTls.options(sslMode))
                .setCachePreparedStatements(true)
                .setPreparedStatementCacheMaxSize(256)
                .addProperty("application_name", "hongbao")
                // What is answered as settled is committed (invariant I5), whatever the role's or the server's default
                // is.
                .addProperty("synchronous_commit", "on")
                // A host that is gone without a word must not keep its locks for hours.
                .addProperty("tcp_keepalives_idle", "5")
                .addProperty("tcp_keepalives_interval", "2")
                .addProperty("tcp_keepalives_count", "3")
                .addProperty("idle_in_transaction_session_timeout", "5s");
    }

    /** The same database for JDBC, without the user and the password. */
    public String jdbcUrl() {
        int query = url.indexOf('?');
        String parameters = query < 0 ? "" : url.substring(query) + PostgresTls.jdbcParameters(sslMode);
        return "jdbc:postgresql://" + server + "/" + database + parameters;
    }

    @Override
    public String toString() {
        return "postgresql://" + login + "@" + server + "/" + database;
    }
}
