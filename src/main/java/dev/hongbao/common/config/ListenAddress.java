package dev.hongbao.common.config;

/**
 * Where a server listens.
 *
 * @param host a name or an address of this machine
 * @param port 0 to 65535; 0 takes a free one
 */
public record ListenAddress(String host, int port) {
    /** @throws IllegalArgumentException when there is no such port */
    public ListenAddress {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("a port is from 0 to 65535");
        }
    }
}
