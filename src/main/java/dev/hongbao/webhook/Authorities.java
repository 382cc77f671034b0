package dev.hongbao.webhook;

import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Trusted issuers of receivers' certificates. */
final class Authorities {
    private Authorities() {}

    /**
     * The JVM's trusted issuers, and the issuers in a file. Blocks.
     *
     * @param file certificates, PEM
     * @throws IllegalArgumentException if it holds no readable certificate
     */
    static TrustOptions with(Path file) {
        try {
            KeyStore all = KeyStore.getInstance(KeyStore.getDefaultType());
            all.load(null, null);
            for (Certificate each : ofFile(file)) {
                all.setCertificateEntry("file-" + all.size(), each);
            }
            for (Certificate each : ofJvm()) {
                all.setCertificateEntry("jvm-" + all.size(), each);
            }
            return TrustOptions.wrap(factory(all));
        } catch (GeneralSecurityException | IOException broken) {
            throw new IllegalArgumentException("webhooks.tls-authority has no certificates that can be read", broken);
        }
    }

    private static Collection<? extends Certificate> ofFile(Path file) throws GeneralSecurityException, IOException {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> found =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (found.isEmpty()) {
                throw new CertificateException("there is none");
            }
            return found;
        }
    }

    private static List<X509Certificate> ofJvm() throws GeneralSecurityException {
        List<X509Certificate> all = new ArrayList<>();
        for (TrustManager manager : factory(null).getTrustManagers()) {
            if (manager instanceof X509TrustManager known) {
                all.addAll(List.of(known.getAcceptedIssuers()));
            }
        }
        return all;
    }

    private static TrustManagerFactory factory(@Nullable KeyStore store) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory;
    }
}
