package dev.hongbao.engine.postgres;

import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;

/**
 * Where a Postgres database is and as whom to work there, read once from a URL.
 *
 * @param url {@code postgresql://user:password@host:port/database[?sslmode=...]}
 */
public record PostgresAddress(
        String url, String host, int port, String database, String user, String password, SslMode sslMode) {

    /**
     * @throws IllegalArgumentException when the URL is malformed or names no user or database
     */
    public static PostgresAddress of(String url) {
        PgConnectOptions read = PgConnectOptions.fromUri(url);
        return new PostgresAddress(
                url,
                read.getHost(),
                read.getPort(),
                read.getDatabase(),
                read.getUser(),
                read.getPassword(),
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
        return "jdbc:postgresql://" + host + ":" + port + "/" + database + parameters;
    }

    @Override
    public String toString() {
        return "postgresql://" + user + "@" + host + ":" + port + "/" + database;
    }
}
