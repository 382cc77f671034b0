package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

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

    /** The listener's address. */
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
