package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The listeners, access to them, and outgoing calls. Immutable. */
public record WebConfig(
        HttpConfig http,
        SocketConfig socket,
        ManagementConfig management,
        TokenConfig token,
        LimitsConfig limits,
        WebhooksConfig webhooks) {

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

            @ConfigOption(
                    path = "http.idle-timeout",
                    range = "1s … 1h",
                    unset = "1m",
                    doc = "A connection without traffic for this time is closed.")
            Duration idleTimeout,

            @ConfigOption(
                    path = "http.answer-timeout",
                    range = "100ms … 1h",
                    unset = "10s",
                    fixed = true,
                    doc = "A call that the stores do not answer within this time gets 503 (unknown). Callers wait no"
                            + " longer, and Postgres gets half of it.")
            Duration answerTimeout,

            @ConfigOption(
                    path = "http.drain-delay",
                    range = "0s … 5m",
                    unset = "0s",
                    doc = "The time after a stop signal in which the server still serves but reports not ready. Choose"
                            + " more than the load balancer takes to notice.")
            Duration drainDelay,

            @ConfigOption(
                    path = "http.max-connections",
                    range = "1 … 1000000 connections",
                    unset = "20000",
                    doc = "The most open connections, with WebSockets, counted after their TLS handshake. At the limit,"
                            + " the longest idle connection makes room, else a new one is closed.")
            int maxConnections,

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
            List<String> origins,

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
            List<AddressRange> trustedProxies,

            @ConfigOption(
                    path = "http.proxy-protocol",
                    unset = "off",
                    doc = "Whether each connection begins with the PROXY protocol, version 1 or 2, which gives the"
                            + " client's address. When on, connections without it or from outside http.trusted-proxies are"
                            + " closed.")
            ProxyProtocol proxyProtocol,

            @ConfigOption(
                    path = "http.tls-certificate",
                    doc = "This server's certificate (PEM), followed by its intermediate certificates, for TLS 1.2 and"
                            + " 1.3, HTTP/2 and wss. Read again when it changes. Empty: no TLS.")
            @Nullable
            Path tlsCertificate,

            @ConfigOption(path = "http.tls-key", doc = "The certificate's key (PEM). Read again when it changes.")
            @Nullable
            Path tlsKey,

            @ConfigOption(
                    path = "http.tls-client-authority",
                    doc = "The certificate (PEM) of the authority that signs the host application's client"
                            + " certificates. A token of role service then requires a connection with such a certificate."
                            + " Users need none.")
            @Nullable
            Path tlsClientAuthority) {

        public enum ProxyProtocol {
            OFF,
            ON
        }

        public ListenAddress address() {
            return new ListenAddress(host, port, ListenAddress.Tls.of(tlsCertificate, tlsKey, tlsClientAuthority));
        }

        /** The number of event loops; at least 1. */
        public int effectiveEventLoops() {
            return eventLoops > 0 ? eventLoops : Runtime.getRuntime().availableProcessors();
        }
    }

    public record SocketConfig(
            @ConfigOption(
                    path = "socket.messages-per-second",
                    range = "1 … 100000 messages a second",
                    unset = "20",
                    fixed = true,
                    doc = "Frames of one connection, with bursts of twice as many. More than a person causes, and"
                            + " clients pace themselves to it.")
            int messagesPerSecond,

            @ConfigOption(
                    path = "socket.max-groups",
                    range = "1 … 1000 groups",
                    unset = "50",
                    fixed = true,
                    doc = "The most groups that one connection follows: more than a screen shows.")
            int maxGroups,

            @ConfigOption(
                    path = "socket.max-per-user",
                    range = "1 … 1000000 connections",
                    unset = "10",
                    doc = "The most connections of one user on this server.")
            int maxPerUser,

            @ConfigOption(
                    path = "socket.max-per-address",
                    range = "1 … 1000000 connections",
                    unset = "1000",
                    doc = "The most connections of one address on this server, counted like http.max-per-address."
                            + " Behind a proxy, the client's address counts.")
            int maxPerAddress,

            @ConfigOption(
                    path = "socket.max-unauthenticated",
                    range = "1 … 1000000 connections",
                    unset = "4000",
                    fixed = true,
                    doc = "The most connections on this server that have not sent a token yet; further ones get 503."
                            + " More than one address may have.")
            int maxUnauthenticated,

            @ConfigOption(
                    path = "socket.auth-timeout",
                    range = "100ms … 1m",
                    unset = "5s",
                    fixed = true,
                    doc =
                            "A connection without a token after this time is closed. A phone on a bad network takes less.")
            Duration authTimeout,

            @ConfigOption(
                    path = "socket.idle-timeout",
                    range = "1s … 1h",
                    unset = "75s",
                    fixed = true,
                    doc = "A connection without any frame for this time is closed. Three pings fall into it, more often"
                            + " than the minute that proxies wait.")
            Duration idleTimeout,

            @ConfigOption(
                    path = "socket.slow-timeout",
                    range = "100ms … 5m",
                    unset = "10s",
                    fixed = true,
                    doc = "A reader that takes nothing for this time is closed, and can go on from its cursor. Over"
                            + " HTTP, it must take at least 64 KiB.")
            Duration slowTimeout) {}

    /** The listener for health checks, metrics and the console. */
    public record ManagementConfig(
            @ConfigOption(
                    path = "management.host",
                    kind = Kind.HOST,
                    unset = "127.0.0.1",
                    doc = "The address that health checks and metrics listen on. On loopback they answer only requests"
                            + " for loopback's names, elsewhere requests for any name. So keep it reachable only for"
                            + " operators and Prometheus.")
            String host,

            @ConfigOption(
                    path = "management.port",
                    range = "0 … 65535",
                    unset = "9090",
                    doc = "Port of health checks and metrics; 0 takes a free one, also by default when http.port is 0.")
            int port,

            @ConfigOption(
                    path = "management.tls-certificate",
                    doc = "The certificate (PEM) of this port, like http.tls-certificate for the API. Empty: no TLS,"
                            + " and plain health checks.")
            @Nullable
            Path tlsCertificate,

            @ConfigOption(path = "management.tls-key", doc = "The certificate's key (PEM). Read again when it changes.")
            @Nullable
            Path tlsKey,

            @ConfigOption(
                    path = "console.oidc-issuer",
                    kind = Kind.WEB_URL,
                    doc = "The OpenID provider whose users may enter the console, by the issuer name in its discovery"
                            + " document. Its access tokens must be valid for this server, with role service. Empty: only a"
                            + " pasted token gives access.")
            @Nullable
            SecretUrl oidcIssuer,

            @ConfigOption(
                    path = "console.oidc-client-id",
                    kind = Kind.TEXT,
                    doc = "The console's client id at the provider: a public client, with the console's address as its"
                            + " redirect URI.")
            @Nullable
            String oidcClientId,

            @ConfigOption(
                    path = "console.oidc-scope",
                    kind = Kind.LINE,
                    unset = "openid",
                    doc = "The scopes that the console requests from the provider, separated by spaces. The token's"
                            + " audience and role may need more than the default.")
            String oidcScope) {
        /** An OpenID provider, from the options. */
        public record Oidc(String issuer, String clientId, String scope) {}

        public ListenAddress address() {
            return new ListenAddress(host, port, ListenAddress.Tls.of(tlsCertificate, tlsKey, null));
        }

        /** The console's OpenID provider. Null when only pasted tokens give access. */
        public @Nullable Oidc oidc() {
            return oidcIssuer == null || oidcClientId == null
                    ? null
                    : new Oidc(oidcIssuer.value(), oidcClientId, oidcScope);
        }
    }

    public record TokenConfig(
            @ConfigOption(
                    path = "token.algorithm",
                    kind = Kind.AS_PRINTED,
                    unset = "HS256",
                    doc = "The only signature algorithm that tokens may have.")
            Algorithm algorithm,

            @ConfigOption(
                    path = "token.secret-file",
                    doc = "HS256: the file with the shared secret. Empty: token.key in data.dir, made at first use.")
            @Nullable
            Path secretFile,

            @ConfigOption(
                    path = "token.further-secret-files",
                    doc = "HS256: files with further secrets whose tokens are valid, too: the next or the previous"
                            + " secret during a change.")
            List<Path> furtherSecretFiles,

            @ConfigOption(
                    path = "token.public-key-files",
                    doc = "RS256 and ES256: PEM files with the issuer's public keys.")
            List<Path> publicKeyFiles,

            @ConfigOption(path = "token.jwks-file", doc = "RS256 and ES256: a JWKS file with the issuer's public keys.")
            @Nullable
            Path jwksFile,

            @ConfigOption(
                    path = "token.jwks-url",
                    kind = Kind.WEB_URL,
                    doc = "RS256 and ES256: the URL of the issuer's public keys as JWKS: at most 256 KiB, within 10 s,"
                            + " no redirect. A start needs it, unless files hold keys as well.")
            @Nullable
            SecretUrl jwksUrl,

            @ConfigOption(
                    path = "token.refresh-interval",
                    range = "1s … 1h",
                    unset = "1m",
                    fixed = true,
                    doc = "The interval at which the key files and the key URL are read again: the longest wait for a"
                            + " new key.")
            Duration refreshInterval,

            @ConfigOption(
                    path = "token.issuer",
                    kind = Kind.TEXT,
                    doc = "The iss that tokens must have; empty takes any.")
            @Nullable
            String issuer,

            @ConfigOption(
                    path = "token.audience",
                    kind = Kind.TEXT,
                    doc = "The aud that tokens must have; empty takes any.")
            @Nullable
            String audience,

            @ConfigOption(
                    path = "token.max-life",
                    range = "1m … 365d",
                    unset = "31d",
                    doc = "A token whose exp is further away is refused, so that a lost token cannot be used for ever.")
            Duration maxLife) {

        /** Signature algorithms, named as in RFC 7518. */
        public enum Algorithm {
            HS256,
            RS256,
            ES256;

            /** Whether the verification key also signs. */
            public boolean isSymmetric() {
                return this == HS256;
            }
        }

        /** The files of HS256, each with its option. */
        public Map<Path, String> secretFiles() {
            Map<Path, String> files = new LinkedHashMap<>();
            Path first = secretFile;
            if (first != null) {
                files.put(first, "token.secret-file");
            }
            furtherSecretFiles.forEach(file -> files.putIfAbsent(file, "token.further-secret-files"));
            return files;
        }
    }

    /** Limits on one user; 0 is no limit. */
    public record LimitsConfig(
            @ConfigOption(
                    path = "limits.claims-per-second",
                    range = "0 … 1000000 claims a second",
                    unset = "20",
                    doc = "Claims of one user; 0 is no limit.")
            int claims,

            @ConfigOption(
                    path = "limits.requests-per-second",
                    range = "0 … 1000000 requests a second",
                    unset = "50",
                    doc = "Other requests of one user; 0 is no limit.")
            int requests,

            @ConfigOption(
                    path = "limits.shares-per-second",
                    range = "0 … 1000000 shares a second",
                    unset = "1000",
                    doc = "Shares of the packets that one user sends; a burst may have as many as the largest packet. 0"
                            + " is no limit.")
            int shares,

            @ConfigOption(
                    path = "limits.calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "6",
                    doc = "The most calls of one user at once, without claims; further ones get 429. 0 is no limit."
                            + " Choose less than postgres.pool-size, so that one user cannot take the pool. A browser sends"
                            + " six at once.")
            int callsInFlight,

            @ConfigOption(
                    path = "limits.service-calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "500",
                    fixed = true,
                    doc = "The most calls at once of a caller with the service role, which calls for all users; 0 is no"
                            + " limit.")
            int serviceCallsInFlight,

            @ConfigOption(
                    path = "limits.polls-in-flight",
                    range = "0 … 1000000 polls",
                    unset = "50",
                    fixed = true,
                    doc = "The most polls of one caller that wait for events of groups at once; 0 is no limit.")
            int pollsInFlight,

            @ConfigOption(
                    path = "limits.wrong-passcodes-per-minute",
                    range = "0 … 1000000 tries a minute",
                    unset = "5",
                    doc = "Wrong passcodes of one user for one packet; 0 is no limit.")
            int wrongPasscodesPerMinute,

            @ConfigOption(
                    path = "limits.wrong-passcodes-per-packet",
                    range = "0 … 1000000 tries an hour",
                    unset = "100",
                    fixed = true,
                    doc = "Wrong passcodes for one packet an hour, of all users on all servers. Beyond, each user has"
                            + " one guess a minute. 0 is no limit.")
            int wrongPasscodesPerPacket) {}

    public record WebhooksConfig(
            @ConfigOption(
                    path = "webhooks.timeout",
                    range = "100ms … 1m",
                    unset = "15s",
                    fixed = true,
                    doc = "An attempt without an answer after this time has failed. Standard Webhooks recommends this"
                            + " value.")
            Duration timeout,

            @ConfigOption(
                    path = "webhooks.max-wait",
                    range = "100ms … 7d",
                    unset = "24h",
                    doc = "The longest wait before a failed delivery is tried again. Waits begin with 1s and double.")
            Duration maxWait,

            @ConfigOption(
                    path = "webhooks.disable-after",
                    range = "1s … 30d",
                    unset = "5d",
                    doc = "A webhook that fails for this time is disabled. The outbox then no longer waits for it.")
            Duration disableAfter,

            @ConfigOption(
                    path = "webhooks.private-networks",
                    doc = "Private networks that webhooks may lead to, also over plain http.")
            List<AddressRange> privateNetworks,

            @ConfigOption(
                    path = "webhooks.tls-authority",
                    doc = "Certificates (PEM) of authorities that may sign the certificates of webhooks' receivers, in"
                            + " addition to those that the JVM trusts.")
            @Nullable
            Path authority) {}
}
