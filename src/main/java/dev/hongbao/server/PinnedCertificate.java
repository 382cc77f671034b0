package dev.hongbao.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** Believes a server that shows one certificate, whoever has signed it and whatever it names: the server is asked on its own machine. */
final class PinnedCertificate extends X509ExtendedTrustManager {
    private final Certificate known;

    private PinnedCertificate(Certificate known) {
        this.known = known;
    }

    /**
     * For connections to that server.
     *
     * @param pem the first certificate in it is the server's
     * @throws IOException when it cannot be read
     */
    static SSLContext context(Path pem) throws IOException {
        try (InputStream in = Files.newInputStream(pem)) {
            Certificate known = CertificateFactory.getInstance("X.509").generateCertificate(in);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new PinnedCertificate(known)}, null);
            return context;
        } catch (GeneralSecurityException unreadable) {
            throw new IOException("cannot read the certificate " + pem, unreadable);
        }
    }

    private void check(X509Certificate[] chain) throws CertificateException {
        if (!chain[0].equals(known)) {
            throw new CertificateException("the server shows another certificate than the configured one");
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
