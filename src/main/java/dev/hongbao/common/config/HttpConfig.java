package dev.hongbao.common.config;

import java.time.Duration;
import java.util.List;

/**
 * The API's listener.
 *
 * @param address where it listens
 * @param eventLoops as configured; 0 is one per core, see {@link #effectiveEventLoops}
 * @param maxBodyBytes a larger request body is refused
 * @param timeouts how long it waits
 * @param connections who may connect, and how many
 * @param proxies who may stand between it and its clients
 */
public record HttpConfig(
        ListenAddress address,
        int eventLoops,
        int maxBodyBytes,
        Timeouts timeouts,
        Connections connections,
        Proxies proxies) {
    /**
     * How long the listener waits.
     *
     * @param idle a connection silent for so long is closed; never 0
     * @param answer after which a call's answer is unknown, over the socket too
     * @param drain between the end of readiness and that of the listener, when the server stops; 0 is none
     */
    public record Timeouts(Duration idle, Duration answer, Duration drain) {
        public Timeouts {
            Options.HTTP_IDLE_TIMEOUT.require(idle);
            Options.HTTP_ANSWER_TIMEOUT.require(answer);
            Options.HTTP_DRAIN_DELAY.require(drain);
        }
    }

    /**
     * Who may connect, and how many connections may be open at once.
     *
     * @param max in all
     * @param maxPerAddress of them, of one address
     * @param origins exact origins whose pages may call and connect, beside this server's own on a loopback address; may be empty
     */
    public record Connections(int max, int maxPerAddress, List<String> origins) {
        public Connections {
            origins = List.copyOf(Options.HTTP_ORIGINS.require(origins));
            Options.HTTP_MAX_CONNECTIONS.require(max);
            Options.HTTP_MAX_PER_ADDRESS.require(maxPerAddress);
        }
    }

    /**
     * The proxies in front of the listener.
     *
     * @param trusted whose word about a client's address is believed; may be empty
     * @param header in which they tell it of a request
     * @param protocol whether they tell it of a connection
     */
    public record Proxies(List<AddressRange> trusted, Forwarded header, ProxyProtocol protocol) {
        public Proxies {
            trusted = List.copyOf(Options.HTTP_TRUSTED_PROXIES.require(trusted));
            Options.HTTP_FORWARDED_HEADER.require(header);
            Options.HTTP_PROXY_PROTOCOL.require(protocol);
        }
    }

    /** Whether each connection begins with the PROXY protocol. */
    public enum ProxyProtocol {
        OFF,
        ON
    }

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
        Options.HTTP_HOST.require(address.host());
        Options.HTTP_PORT.require(address.port());
        Options.HTTP_EVENT_LOOPS.require(eventLoops);
        Options.HTTP_MAX_BODY.require(maxBodyBytes);
    }

    static HttpConfig from(OptionValues values) {
        return new HttpConfig(
                new ListenAddress(
                        values.get(Options.HTTP_HOST),
                        values.get(Options.HTTP_PORT),
                        ListenTls.of(
                                values.get(Options.HTTP_TLS_CERTIFICATE),
                                values.get(Options.HTTP_TLS_KEY),
                                values.get(Options.HTTP_TLS_CLIENT_AUTHORITY))),
                values.get(Options.HTTP_EVENT_LOOPS),
                values.get(Options.HTTP_MAX_BODY),
                new Timeouts(
                        values.get(Options.HTTP_IDLE_TIMEOUT),
                        values.get(Options.HTTP_ANSWER_TIMEOUT),
                        values.get(Options.HTTP_DRAIN_DELAY)),
                new Connections(
                        values.get(Options.HTTP_MAX_CONNECTIONS),
                        values.get(Options.HTTP_MAX_PER_ADDRESS),
                        values.get(Options.HTTP_ORIGINS)),
                new Proxies(
                        values.get(Options.HTTP_TRUSTED_PROXIES),
                        values.get(Options.HTTP_FORWARDED_HEADER),
                        values.get(Options.HTTP_PROXY_PROTOCOL)));
    }

    /** Event loops to start; at least 1. */
    public int effectiveEventLoops() {
        return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
    }
}
