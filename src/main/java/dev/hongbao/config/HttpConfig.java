package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The API's listener. */
public record HttpConfig(
        @ConfigOption(
                path = "http.host",
                kind = Kind.HOST,
                unset = "127.0.0.1",
                shortFlag = "--host",
                doc = "The address that the API listens on.")
        String host,

        @ConfigOption(
                path = "http.port",
                range = "0 … 65535",
                unset = "8080",
                shortFlag = "--port",
                doc = "Port of the API; 0 takes a free one.")
        int port,

        @ConfigOption(
                path = "http.event-loops",
                range = "0 … 256 threads",
                unset = "0",
                fixed = true,
                doc = "Event loops that serve requests; 0 is one per core. More loops only share the cores.")
        int eventLoops,

        Timeouts timeouts,
        Connections connections,
        Proxies proxies,

        @ConfigOption(
                path = "http.tls-certificate",
                doc = "This server's certificate (PEM), followed by its intermediate certificates, for TLS 1.2 and"
                        + " 1.3, HTTP/2 and wss. Read again when it changes. Empty: no TLS.")
        @Nullable
        Path tlsCertificate,

        @ConfigOption(path = "http.tls-key", doc = "The certificate's key (PEM). Read again when it changes.") @Nullable
        Path tlsKey,

        @ConfigOption(
                path = "http.tls-client-authority",
                doc = "The certificate (PEM) of the authority that signs the host application's client"
                        + " certificates. A token of role service then requires a connection with such a certificate."
                        + " Users need none.")
        @Nullable
        Path tlsClientAuthority) {
    /** Timeouts of the listener. */
    public record Timeouts(
            @ConfigOption(
                    path = "http.idle-timeout",
                    range = "1s … 1h",
                    unset = "1m",
                    doc = "A connection without traffic for this time is closed.")
            Duration idle,

            @ConfigOption(
                    path = "http.answer-timeout",
                    range = "100ms … 1h",
                    unset = "10s",
                    fixed = true,
                    doc = "A call that the stores do not answer within this time gets 503 (unknown). Callers wait no"
                            + " longer, and Postgres gets half of it.")
            Duration answer,

            @ConfigOption(
                    path = "http.drain-delay",
                    range = "0s … 5m",
                    unset = "0s",
                    doc = "The time after a stop signal in which the server still serves but reports not ready. Choose"
                            + " more than the load balancer takes to notice.")
            Duration drain) {}

    /** Limits on connections. */
    public record Connections(
            @ConfigOption(
                    path = "http.max-connections",
                    range = "1 … 1000000 connections",
                    unset = "20000",
                    doc = "The most open connections, with WebSockets, counted after their TLS handshake. At the limit,"
                            + " the longest idle connection makes room, else a new one is closed.")
            int max,

            @ConfigOption(
                    path = "http.max-per-address",
                    range = "1 … 1000000 connections",
                    unset = "1000",
                    doc = "The most connections of one address, counted after their TLS handshake; further ones are"
                            + " closed. An IPv6 /64 counts as one address. Proxies and loopback are exempt.")
            int maxPerAddress,

            @ConfigOption(
                    path = "http.origins",
                    kind = Kind.ORIGINS,
                    doc = "Origins whose pages may call (CORS) and open a WebSocket. On a loopback address, this"
                            + " server's own page may, too.")
            List<String> origins) {}

    /** Proxies in front of the listener. */
    public record Proxies(
            @ConfigOption(
                    path = "http.base-path",
                    kind = Kind.URL_PATH,
                    doc = "The path below which a proxy publishes this server, such as /hongbao. Requests are answered"
                            + " with and without it; Location headers have it.")
            String basePath,

            @ConfigOption(
                    path = "http.trusted-proxies",
                    doc = "Proxies whose report of a client's address is trusted, for socket.max-per-address and the"
                            + " audit log. http.max-per-address does not count them. With http.proxy-protocol, only they may"
                            + " connect.")
            List<AddressRange> trusted,

            @ConfigOption(
                    path = "http.proxy-protocol",
                    unset = "off",
                    doc = "Whether each connection begins with the PROXY protocol, version 1 or 2, which gives the"
                            + " client's address. When on, connections without it or from outside http.trusted-proxies are"
                            + " closed.")
            ProxyProtocol protocol) {}

    /** Whether each connection begins with the PROXY protocol. */
    public enum ProxyProtocol {
        OFF,
        ON
    }

    /** The listener's address. */
    public ListenAddress address() {
        return new ListenAddress(host, port, ListenAddress.Tls.of(tlsCertificate, tlsKey, tlsClientAuthority));
    }

    /** The number of event loops; at least 1. */
    public int effectiveEventLoops() {
        return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
    }
}
