package dev.hongbao.testing;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** An authority that signs certificates, as a company has one for its own network. */
public final class TestAuthority {
    private static final String NAME = "authority";

    private final Path store;
    private final Path certificate;
    private final AtomicInteger issued = new AtomicInteger();

    /** Makes one with a name of its own in an empty directory. */
    public TestAuthority(Path directory, String name) throws Exception {
        this.store = directory.resolve("authority.p12");
        TestCertificate.generate(store, NAME, "-dname", "CN=" + name, "-validity", "2", "-ext", "bc:critical=ca:true");
        this.certificate = TestCertificate.pem(
                directory,
                "CERTIFICATE",
                TestCertificate.load(store).getCertificate(NAME).getEncoded());
    }

    /** Its own certificate, PEM. */
    public Path certificate() {
        return certificate;
    }

    /** For a server with a certificate for a name or an address, such as {@code dns:example.com}, which is valid today. */
    public SSLContext certify(String subject) throws Exception {
        return certify(subject, "-validity", "2");
    }

    /** For a server with a certificate that is over. */
    public SSLContext certifyExpired(String subject) throws Exception {
        return certify(subject, "-startdate", "-10d", "-validity", "5");
    }

    private SSLContext certify(String subject, String... validity) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(entry(subject, validity), TestCertificate.PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    /** As files in an empty directory: for a server, or for a client that shows it. */
    public TestCertificate issue(Path directory, String subject) throws Exception {
        KeyStore only = entry(subject, "-validity", "2");
        char[] password = TestCertificate.PASSWORD.toCharArray();
        Path file = directory.resolve("store.p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            only.store(out, password);
        }
        Path shown = TestCertificate.pem(
                directory, "CERTIFICATE", only.getCertificate("server").getEncoded());
        byte[] key = only.getKey("server", password).getEncoded();
        return new TestCertificate(file, shown, TestCertificate.pem(directory, "PRIVATE KEY", key));
    }

    /** For a client that trusts this authority alone. @param shown the certificate that it shows; null for none */
    public SSLContext trusted(TestCertificate shown) throws Exception {
        KeyStore known = KeyStore.getInstance("PKCS12");
        known.load(null, null);
        known.setCertificateEntry(NAME, TestCertificate.load(store).getCertificate(NAME));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(shown == null ? null : shown.load(), TestCertificate.PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private KeyStore entry(String subject, String... validity) throws Exception {
        String alias = "issued" + issued.incrementAndGet();
        String[] options = {"-dname", "CN=server", "-signer", NAME, "-ext", "SAN=" + subject};
        String[] all = new String[options.length + validity.length];
        System.arraycopy(options, 0, all, 0, options.length);
        System.arraycopy(validity, 0, all, options.length, validity.length);
        TestCertificate.generate(store, alias, all);
        KeyStore from = TestCertificate.load(store);
        char[] password = TestCertificate.PASSWORD.toCharArray();
        KeyStore only = KeyStore.getInstance("PKCS12");
        only.load(null, password);
        only.setKeyEntry("server", from.getKey(alias, password), password, from.getCertificateChain(alias));
        return only;
    }
}
