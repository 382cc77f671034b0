package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The listener for health checks, metrics and the console. */
public record ManagementConfig(
        @ConfigOption(
                path = "management.host",
                kind = Kind.HOST,
                unset = "127.0.0.1",
                doc = "Address of health checks and metrics. On loopback they answer only to loopback's names; on"
                        + " any other address to every name, so keep it where only operators and Prometheus reach it.")
        String host,

        @ConfigOption(
                path = "management.port",
                range = "0 … 65535",
                unset = "9090",
                doc = "Port of health checks and metrics; 0 takes a free one, also by default when http.port is 0.")
        int port,

        @ConfigOption(
                path = "management.tls-certificate",
                doc = "A certificate (PEM) for that port, as http.tls-certificate is for the API's. Empty is no"
                        + " TLS: health checks are plain.")
        @Nullable
        Path tlsCertificate,

        @ConfigOption(path = "management.tls-key", doc = "Its key (PEM). Read again when it changes.") @Nullable
        Path tlsKey,

        @ConfigOption(
                path = "console.oidc-issuer",
                kind = Kind.WEB_URL,
                doc = "The OpenID provider whose users may enter the console, named as its discovery document names"
                        + " itself. The access tokens that it gives must be ones that this server believes, of role"
                        + " service. Empty: only a token that is pasted enters.")
        @Nullable
        SecretUrl oidcIssuer,

        @ConfigOption(
                path = "console.oidc-client-id",
                kind = Kind.TEXT,
                doc = "What the provider calls the console: a public client, with the console's address as its"
                        + " redirect URI.")
        @Nullable
        String oidcClientId,

        @ConfigOption(
                path = "console.oidc-scope",
                kind = Kind.LINE,
                unset = "openid",
                doc = "What the console asks the provider for, with spaces between: maybe more, so that the token"
                        + " has its audience and role.")
        String oidcScope) {
    /** An OpenID provider, as the options say. */
    public record Oidc(String issuer, String clientId, String scope) {}

    /** Where it listens. */
    public ListenAddress address() {
        return new ListenAddress(host, port, ListenTls.of(tlsCertificate, tlsKey, null));
    }

    /** Who lets operators into the console, beside the tokens that they paste; null for nobody. */
    public @Nullable Oidc oidc() {
        return oidcIssuer == null || oidcClientId == null
                ? null
                : new Oidc(oidcIssuer.value(), oidcClientId, oidcScope);
    }
}
