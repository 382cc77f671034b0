package dev.hongbao.common.config;

import org.jspecify.annotations.Nullable;

/**
 * The address of a listener, with its TLS.
 *
 * @param host a name or address of this machine
 * @param port 0 to 65535; 0 takes a free one
 * @param tls null for none
 */
public record ListenAddress(String host, int port, @Nullable ListenTls tls) {
    /** @throws IllegalArgumentException when there is no such port */
    public ListenAddress {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("a port is from 0 to 65535");
        }
    }

    /** Without TLS. */
    public ListenAddress(String host, int port) {
        this(host, port, null);
    }
}
