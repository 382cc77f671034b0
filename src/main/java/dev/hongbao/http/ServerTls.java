package dev.hongbao.http;

import dev.hongbao.config.ListenAddress;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS of one listener. Rereads its files periodically, so that a certificate is renewed without a restart. Open connections
 * keep their certificate. Files that do not fit together, as during a replacement, change nothing. On the event loop that made
 * it; files are read on a worker.
 */
public final class ServerTls {
    private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

    /** Three small files; certificates are renewed days before they expire. */
    private static final long LOOK_MILLIS = 2_000;

    private static final long HANDSHAKE_SECONDS = 5;

    /** As Java names them. */
    private static final List<String> KEY_TYPES = List.of("EC", "RSA", "EdDSA");

    private final Vertx vertx;
    private final String section;
    private final ListenAddress.Tls files;
    private Material seen = Material.NONE;
    private String told = "";

    /** The files' contents. @param authority null for none */
    private record Material(
            Buffer certificate, Buffer key, @Nullable Buffer authority) {
        private static final Material NONE = new Material(Buffer.buffer(), Buffer.buffer(), null);

        private PemKeyCertOptions pair() {
            return new PemKeyCertOptions().addCertValue(certificate).addKeyValue(key);
        }
    }

    /** @param section of the options that name the files, such as {@code http} */
    public ServerTls(Vertx vertx, String section, ListenAddress.Tls files) {
        this.vertx = vertx;
        this.section = section;
        this.files = files;
    }

    /** Adds TLS to a listener's options; fails with the option's name if the files are unusable. */
    public Future<Void> secure(HttpServerOptions options) {
        return vertx.executeBlocking(this::read).map(material -> {
            seen = material;
            Buffer authority = material.authority;
            options.setSsl(true)
                    .setKeyCertOptions(material.pair())
                    .setEnabledSecureTransportProtocols(Set.of("TLSv1.2", "TLSv1.3"))
                    .setSslHandshakeTimeout(HANDSHAKE_SECONDS)
                    .setSslHandshakeTimeoutUnit(TimeUnit.SECONDS);
            if (authority != null) {
                // Wanted of all, since a token comes after the handshake; see Access.
                options.setClientAuth(ClientAuth.REQUEST)
                        .setTrustOptions(new PemTrustOptions().addCertValue(authority));
            }
            return null;
        });
    }

    /** Keeps a listener's certificate equal to the files. */
    public void follow(HttpServer server, HttpServerOptions options) {
        vertx.setPeriodic(LOOK_MILLIS, tick -> look(server, options.getSslOptions()));
    }

    private void look(HttpServer server, ServerSSLOptions first) {
        Future<Material> held = vertx.executeBlocking(this::contents);
        held.compose(material -> {
                    if (material.equals(seen)) {
                        return Future.succeededFuture(false);
                    }
                    seen = material; // also if it is unusable
                    return vertx.executeBlocking(() -> checked(material)).compose(good -> use(good, server, first));
                })
                .onSuccess(changed -> {
                    if (changed) {
                        told = "";
                        LOG.info("{}.tls-certificate has changed, and is shown to new connections", section);
                    }
                })
                .onFailure(fault -> tell(String.valueOf(fault.getMessage())));
    }

    private void tell(String fault) {
        if (!fault.equals(told)) {
            told = fault;
            LOG.warn("the listener keeps the certificate that it has: {}", fault);
        }
    }

    /** Several event loops share a listener: the first one changes it, and the others find it changed. */
    private static Future<Boolean> use(Material material, HttpServer server, ServerSSLOptions first) {
        ServerSSLOptions next = first.copy().setKeyCertOptions(material.pair());
        Buffer authority = material.authority;
        if (authority != null) {
            next.setTrustOptions(new PemTrustOptions().addCertValue(authority));
        }
        return server.updateSSLOptions(next);
    }

    private Material read() throws IOException {
        return checked(contents());
    }

    private Material contents() throws IOException {
        Path authority = files.clientAuthority();
        return new Material(
                bytes("tls-certificate", files.certificate()),
                bytes("tls-key", files.key()),
                authority == null ? null : bytes("tls-client-authority", authority));
    }

    private Buffer bytes(String option, Path file) throws IOException {
        try {
            return Buffer.buffer(Files.readAllBytes(file));
        } catch (IOException unreadable) {
            throw new IOException(section + "." + option + ": cannot read " + file, unreadable);
        }
    }

    /** Checks that the key fits the certificate: Java accepts any two, and then no client can connect. */
    private Material checked(Material material) throws IOException {
        try {
            for (KeyManager manager :
                    material.pair().getKeyManagerFactory(vertx).getKeyManagers()) {
                if (manager instanceof X509KeyManager pairs && isPair(pairs)) {
                    if (material.authority != null) {
                        var unused = new PemTrustOptions()
                                .addCertValue(material.authority)
                                .getTrustManagerFactory(vertx);
                    }
                    return material;
                }
            }
        } catch (Exception unusable) {
            throw new IOException(named("cannot be used: " + unusable.getMessage()), unusable);
        }
        throw new IOException(named("do not belong together"));
    }

    private String named(String what) {
        return section + ".tls-certificate and " + section + ".tls-key " + what + " (" + files.certificate() + ", "
                + files.key() + ")";
    }

    private static boolean isPair(X509KeyManager pairs) throws GeneralSecurityException {
        for (String type : KEY_TYPES) {
            String[] names = pairs.getServerAliases(type, null);
            for (String name : names == null ? new String[0] : names) {
                PublicKey known = pairs.getCertificateChain(name)[0].getPublicKey();
                if (verifies(type, pairs.getPrivateKey(name), known)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean verifies(String type, PrivateKey key, PublicKey known) throws GeneralSecurityException {
        String algorithm = switch (type) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> "EdDSA";
        };
        byte[] challenge = {1};
        Signature signing = Signature.getInstance(algorithm);
        signing.initSign(key);
        signing.update(challenge);
        byte[] signed = signing.sign();
        Signature verifying = Signature.getInstance(algorithm);
        verifying.initVerify(known);
        verifying.update(challenge);
        return verifying.verify(signed);
    }
}
