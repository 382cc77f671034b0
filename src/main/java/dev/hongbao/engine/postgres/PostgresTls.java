package dev.hongbao.engine.postgres;

import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.TrustOptions;
import io.vertx.pgclient.SslMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of a URL's {@code sslmode}, as in libpq. The modes up to {@code require} only encrypt, {@code verify-ca} also
 * requires a trusted certificate, and {@code verify-full} also the host's name in it. A certificate is trusted by the given
 * authority, or without one by this JVM ({@code -Djavax.net.ssl.trustStore}).
 */
final class PostgresTls {
    private PostgresTls() {}

    /** For the reactive client; without options it fails at TLS. */
    static ClientSSLOptions options(SslMode mode, @Nullable Path authority) {
        ClientSSLOptions options = new ClientSSLOptions().setHostnameVerificationAlgorithm("");
        return switch (mode) {
            case DISABLE, ALLOW, PREFER, REQUIRE -> options.setTrustAll(true);
            case VERIFY_CA -> options.setTrustOptions(trusted(authority));
            case VERIFY_FULL -> options.setTrustOptions(trusted(authority)).setHostnameVerificationAlgorithm("HTTPS");
        };
    }

    /** JDBC's parameters beside the mode; without them it would look for libpq's files. */
    static String jdbcParameters(SslMode mode, @Nullable Path authority) {
        return switch (mode) {
            case DISABLE, ALLOW, PREFER, REQUIRE -> "";
            case VERIFY_CA, VERIFY_FULL ->
                authority == null
                        ? "&sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory"
                        : "&sslrootcert=" + URLEncoder.encode(authority.toString(), StandardCharsets.UTF_8);
        };
    }

    private static TrustOptions trusted(@Nullable Path authority) {
        if (authority != null) {
            return new PemTrustOptions().addCertPath(authority.toString());
        }
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            return TrustOptions.wrap(factory);
        } catch (GeneralSecurityException broken) {
            throw new IllegalStateException("this JVM's trust store cannot be read", broken);
        }
    }
}
