package dev.hongbao.testing;

import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An authority that signs certificates, as a company has one for its own network. */
public final class TestAuthority {
    private static final String NAME = "authority";

    private final Path store;
    private final Path certificate;

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
        String alias = subject + validity.length;
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
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(only, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }
}
