package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
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
                doc = "Address the API listens on.")
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
                doc = "Event loops that serve requests; 0 is one per core: more of them only share the cores.")
        int eventLoops,

        Timeouts timeouts,
        Connections connections,
        Proxies proxies,

        @ConfigOption(
                path = "http.tls-certificate",
                doc = "This server's certificate (PEM), followed by its intermediate certificates, for TLS 1.2 and"
                        + " 1.3, HTTP/2 and wss. Read again when it changes. Empty is no TLS.")
        @Nullable
        Path tlsCertificate,

        @ConfigOption(path = "http.tls-key", doc = "Its key (PEM). Read again when it changes.") @Nullable
        Path tlsKey,

        @ConfigOption(
                path = "http.tls-client-authority",
                doc = "The certificate (PEM) of who signs the host application's: a token of the service role is"
                        + " then believed only on a connection that shows one of these. Users need none.")
        @Nullable
        Path tlsClientAuthority) {
    /** How long the listener waits. */
    public record Timeouts(
            @ConfigOption(
                    path = "http.idle-timeout",
                    range = "1s … 1h",
                    unset = "1m",
                    doc = "A connection silent for so long is closed.")
            Duration idle,

            @ConfigOption(
                    path = "http.answer-timeout",
                    range = "100ms … 1h",
                    unset = "10s",
                    fixed = true,
                    doc = "A call whose answer the stores keep back for so long gets 503 unknown: callers wait no"
                            + " longer, and Postgres gets half of it.")
            Duration answer,

            @ConfigOption(
                    path = "http.drain-delay",
                    range = "0s … 5m",
                    unset = "0s",
                    doc = "How long the server, once told to stop, says that it is not ready and still serves. Longer"
                            + " than the load balancer takes to notice.")
            Duration drain) {}

    /** Who may connect, and how many connections may be open at once. */
    public record Connections(
            @ConfigOption(
                    path = "http.max-connections",
                    range = "1 … 1000000 connections",
                    unset = "20000",
                    doc = "Connections open at once, WebSockets among them, counted after their TLS handshake; then the"
                            + " one idle longest makes room, else new ones are closed.")
            int max,

            @ConfigOption(
                    path = "http.max-per-address",
                    range = "1 … 1000000 connections",
                    unset = "1000",
                    doc = "Connections of one address, counted after their TLS handshake; further ones are closed. Of"
                            + " IPv6 a /64 counts as one; proxies and loopback are exempt.")
            int maxPerAddress,

            @ConfigOption(
                    path = "http.origins",
                    kind = Kind.ORIGINS,
                    doc = "Whose pages may call (CORS) and open a WebSocket; on a loopback address this server's own"
                            + " page may too.")
            List<String> origins) {}

    /** The proxies in front of the listener. */
    public record Proxies(
            @ConfigOption(
                    path = "http.base-path",
                    kind = Kind.URL_PATH,
                    doc = "The path below which a proxy publishes this server, such as /hongbao. Requests are answered"
                            + " with it and without it; Location headers have it.")
            String basePath,

            @ConfigOption(
                    path = "http.trusted-proxies",
                    doc = "Proxies whose word about a client's address is believed, for socket.max-per-address and the"
                            + " audit log; http.max-per-address does not count them. With http.proxy-protocol only they may"
                            + " connect.")
            List<AddressRange> trusted,

            @ConfigOption(
                    path = "http.proxy-protocol",
                    unset = "off",
                    doc = "Whether each connection begins with the PROXY protocol, version 1 or 2, which tells its"
                            + " client's address. On closes those without, and those that do not come from"
                            + " http.trusted-proxies.")
            ProxyProtocol protocol) {}

    /** Whether each connection begins with the PROXY protocol. */
    public enum ProxyProtocol {
        OFF,
        ON
    }

    /** Where it listens. */
    public ListenAddress address() {
        return new ListenAddress(host, port, ListenTls.of(tlsCertificate, tlsKey, tlsClientAuthority));
    }

    /** Event loops to start; at least 1. */
    public int effectiveEventLoops() {
        return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
    }
}
