package dev.hongbao.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The address of a listener, with its TLS.
 *
 * @param host a name or address of this machine
 * @param port 0 to 65535; 0 takes a free one
 * @param tls null for none
 */
public record ListenAddress(String host, int port, @Nullable Tls tls) {
    /** @throws IllegalArgumentException when there is no such port */
    public ListenAddress {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("a port is from 0 to 65535");
        }
    }

    /** Whether callers of the service role need a client certificate. */
    public boolean needsClientCertificate() {
        return tls != null && tls.clientAuthority() != null;
    }

    /** Whether all addresses of a host's name are loopback. Blocks on names. */
    public static boolean isLoopback(String host) {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (!address.isLoopbackAddress()) {
                    return false;
                }
            }
            return true;
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    /** Without TLS. */
    public ListenAddress(String host, int port) {
        this(host, port, null);
    }

    /**
     * A listener's TLS. All files are PEM.
     *
     * @param certificate this server's, followed by its intermediate certificates
     * @param key the certificate's
     * @param clientAuthority the authority of the client certificates that the service role must show; null for no such rule
     */
    public record Tls(Path certificate, Path key, @Nullable Path clientAuthority) {
        /** Null without TLS. {@link ConfigRules} requires both certificate and key, or neither. */
        static @Nullable Tls of(@Nullable Path certificate, @Nullable Path key, @Nullable Path clientAuthority) {
            return certificate == null || key == null ? null : new Tls(certificate, key, clientAuthority);
        }
    }
}
