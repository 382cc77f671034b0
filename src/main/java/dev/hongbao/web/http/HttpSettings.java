package dev.hongbao.web.http;

import java.time.Duration;

/**
 * The HTTP face's address and limits.
 *
 * @param port 0 to 65535; 0 = a free one, the same for all instances
 * @param maxBodyBytes larger bodies get 413; 1,000 recipients of 64 characters need 68 KB
 * @param maxFrameBytes larger WebSocket frames and messages close their connection
 * @param headerTimeout in which a new connection must have sent its first whole header
 * @param bodyTimeout in which a body must have arrived
 * @param keepAlive how long a connection may stay without a further whole header
 * @param answerTimeout after which the answer of a call is unknown; claims have a shorter one
 * @param drainTimeout how long a stop waits for answers in flight
 */
public record HttpSettings(
        String host,
        int port,
        int maxBodyBytes,
        int maxFrameBytes,
        Duration headerTimeout,
        Duration bodyTimeout,
        Duration keepAlive,
        Duration answerTimeout,
        Duration drainTimeout) {
    /** Longest header, and longest request line with it: a token of 8 KiB and what browsers send. */
    static final int MAX_HEADER_BYTES = 16 * 1024;

    static final int MAX_INITIAL_LINE_BYTES = 4 * 1024;

    public HttpSettings {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("a port is from 0 to 65535");
        }
        if (maxBodyBytes < 1) {
            throw new IllegalArgumentException("the limit of bodies is at least 1");
        }
    }

    /** The defaults at an address. */
    public static HttpSettings of(String host, int port) {
        return new HttpSettings(
                host,
                port,
                128 * 1024,
                64 * 1024,
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofSeconds(75),
                Duration.ofSeconds(10),
                Duration.ofSeconds(5));
    }
}
