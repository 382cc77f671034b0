package dev.hongbao.common.config;

import java.time.Duration;
import java.util.List;

/**
 * The API's listener.
 *
 * @param port 0 takes a free one
 * @param eventLoops as configured; 0 is one per core, see {@link #effectiveEventLoops}
 * @param maxBodyBytes a larger request body is refused
 * @param idleTimeout a connection silent for so long is closed; never 0
 * @param answerTimeout after which a call's answer is unknown, over the socket too
 * @param maxConnections open at once
 * @param maxPerAddress of them, of one address
 * @param trustedProxies whose word about a client's address is believed; may be empty
 * @param forwardedHeader in which they tell it
 */
public record HttpConfig(
        String host,
        int port,
        int eventLoops,
        int maxBodyBytes,
        Duration idleTimeout,
        Duration answerTimeout,
        int maxConnections,
        int maxPerAddress,
        List<AddressRange> trustedProxies,
        Forwarded forwardedHeader) {
    /** A header that names a request's client. */
    public enum Forwarded {
        X_FORWARDED_FOR("X-Forwarded-For"),
        FORWARDED("Forwarded");

        private final String wireName;

        Forwarded(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    public HttpConfig {
        Options.HTTP_HOST.require(host);
        Options.HTTP_PORT.require(port);
        Options.HTTP_EVENT_LOOPS.require(eventLoops);
        Options.HTTP_MAX_BODY.require(maxBodyBytes);
        Options.HTTP_IDLE_TIMEOUT.require(idleTimeout);
        Options.HTTP_ANSWER_TIMEOUT.require(answerTimeout);
        Options.HTTP_MAX_CONNECTIONS.require(maxConnections);
        Options.HTTP_MAX_PER_ADDRESS.require(maxPerAddress);
        trustedProxies = List.copyOf(Options.HTTP_TRUSTED_PROXIES.require(trustedProxies));
        Options.HTTP_FORWARDED_HEADER.require(forwardedHeader);
    }

    static HttpConfig from(OptionValues values) {
        return new HttpConfig(
                values.get(Options.HTTP_HOST),
                values.get(Options.HTTP_PORT),
                values.get(Options.HTTP_EVENT_LOOPS),
                values.get(Options.HTTP_MAX_BODY),
                values.get(Options.HTTP_IDLE_TIMEOUT),
                values.get(Options.HTTP_ANSWER_TIMEOUT),
                values.get(Options.HTTP_MAX_CONNECTIONS),
                values.get(Options.HTTP_MAX_PER_ADDRESS),
                values.get(Options.HTTP_TRUSTED_PROXIES),
                values.get(Options.HTTP_FORWARDED_HEADER));
    }

    /** Event loops to start; at least 1. */
    public int effectiveEventLoops() {
        return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
    }
}
