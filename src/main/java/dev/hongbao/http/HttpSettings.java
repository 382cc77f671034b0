package dev.hongbao.http;

import dev.hongbao.config.AddressRange;
import dev.hongbao.config.ListenAddress;
import java.time.Duration;
import java.util.List;

/**
 * The HTTP face's address and limits.
 *
 * @param address port 0 = a free one, the same for all instances
 * @param maxBodyBytes larger bodies get 413
 * @param timeouts how long the face waits
 * @param origins whose pages may call and connect
 * @param basePath under which a proxy publishes the server, such as {@code /hongbao}; empty for none
 * @param connectors the only
 *     peers, which use the PROXY protocol; empty: any peer, without it
 */
public record HttpSettings(
        ListenAddress address,
        int maxBodyBytes,
        Timeouts timeouts,
        Origins origins,
        String basePath,
        List<AddressRange> connectors) {
    /**
     * Time limits.
     *
     * @param header in which a new connection must have sent its first whole header
     * @param body in which a body must have arrived
     * @param keepAlive how long a connection may stay without a further whole header
     * @param answer after which the answer of a call is unknown; claims have a shorter one
     * @param slow in which a client must have taken each 64 KiB of an answer
     * @param drain how long a stop waits for answers in flight
     */
    public record Timeouts(
            Duration header, Duration body, Duration keepAlive, Duration answer, Duration slow, Duration drain) {
        /** The defaults. */
        public static final Timeouts DEFAULT = new Timeouts(
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofSeconds(75),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofSeconds(5));
    }

    /** Limit of all headers: a token of 8 KiB and browsers' own headers. */
    public static final int MAX_HEADER_BYTES = 16 * 1024;

    /** Larger bodies get 413: 1,000 recipients of 128 characters need 132 KB. */
    public static final int MAX_BODY_BYTES = 256 * 1024;

    /** Larger WebSocket frames and messages close their connection; a token may have 8 KiB. */
    public static final int MAX_FRAME_BYTES = 64 * 1024;

    static final int MAX_INITIAL_LINE_BYTES = 4 * 1024;

    public HttpSettings {
        if (maxBodyBytes < 1) {
            throw new IllegalArgumentException("the limit of bodies is at least 1");
        }
        connectors = List.copyOf(connectors);
    }

    /** Settings of the console's listener, which pages of other origins may not call. */
    public HttpSettings forConsole() {
        ListenAddress plain = new ListenAddress(address.host(), address.port());
        return new HttpSettings(plain, maxBodyBytes, timeouts, new Origins(List.of()), "", List.of());
    }

    /** The defaults at an address. */
    static HttpSettings of(ListenAddress address) {
        return new HttpSettings(address, MAX_BODY_BYTES, Timeouts.DEFAULT, new Origins(List.of()), "", List.of());
    }
}
