package dev.hongbao.store.postgres;

import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.TrustOptions;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The address and login of a Postgres database, parsed from a URL.
 *
 * <p>{@code sslmode} means the same as in libpq. The modes up to {@code require} only encrypt, {@code verify-ca} also requires a
 * trusted certificate, and {@code verify-full} also the host's name in it. A certificate is trusted by the given authority, or
 * without one by this JVM ({@code -Djavax.net.ssl.trustStore}).
 *
 * @param url {@code postgresql://user:password@host:port/database[?sslmode=...]}
 * @param authority the CA file (PEM) for the server's certificate; null for the JVM's trust store
 */
public record PostgresAddress(
        String url,
        String host,
        int port,
        String database,
        String user,
        String password,
        SslMode sslMode,
        @Nullable Path authority) {
    private static final Pattern SCHEMA = Pattern.compile("[?&](?:search_path|currentSchema)=([^&]*)");

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
                read.getHost(),
                read.getPort(),
                read.getDatabase(),
                read.getUser(),
                read.getPassword(),
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
        return options.setSslOptions(tls())
                .setCachePreparedStatements(true)
                // The question for the owners' work is longer than the default of 2,048 characters.
                .setPreparedStatementCacheSqlLimit(4_096)
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
        String parameters = query < 0 ? "" : url.substring(query) + jdbcTls();
        String schema = schema();
        if (schema != null) {
            parameters += "&currentSchema=" + schema;
        }
        return "jdbc:postgresql://" + host + ":" + port + "/" + database + parameters;
    }

    /** The schema of the tables, by either client's parameter name; null for the role's default. */
    private @Nullable String schema() {
        Matcher named = SCHEMA.matcher(url);
        return named.find() ? named.group(1) : null;
    }

    /** For the reactive client; without options it fails at TLS. */
    private ClientSSLOptions tls() {
        ClientSSLOptions options = new ClientSSLOptions().setHostnameVerificationAlgorithm("");
        return switch (sslMode) {
            case DISABLE, ALLOW, PREFER, REQUIRE -> options.setTrustAll(true);
            case VERIFY_CA -> options.setTrustOptions(trusted());
            case VERIFY_FULL -> options.setTrustOptions(trusted()).setHostnameVerificationAlgorithm("HTTPS");
        };
    }

    /** JDBC's parameters beside the mode; without them it would look for libpq's files. */
    private String jdbcTls() {
        return switch (sslMode) {
            case DISABLE, ALLOW, PREFER, REQUIRE -> "";
            case VERIFY_CA, VERIFY_FULL ->
                authority == null
                        ? "&sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory"
                        : "&sslrootcert=" + URLEncoder.encode(authority.toString(), StandardCharsets.UTF_8);
        };
    }

    private TrustOptions trusted() {
        Path named = authority;
        if (named != null) {
            return new PemTrustOptions().addCertPath(named.toString());
        }
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            return TrustOptions.wrap(factory);
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("this JVM's trust store cannot be read", broken);
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "postgresql://" + user + "@" + host + ":" + port + "/" + database;
    }
}
