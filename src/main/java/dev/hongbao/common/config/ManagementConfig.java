package dev.hongbao.common.config;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The listener for health checks, metrics and the console.
 *
 * @param address where it listens
 * @param oidc who lets operators into the console, beside the tokens that they paste; null for nobody
 */
public record ManagementConfig(
        ListenAddress address, @Nullable Oidc oidc) {
    /**
     * An OpenID provider.
     *
     * @param issuer its URL
     * @param clientId what it calls the console
     * @param scope what the console asks it for
     */
    public record Oidc(String issuer, String clientId, String scope) {
        public Oidc {
            Options.CONSOLE_OIDC_ISSUER.require(Optional.of(new SecretUrl(issuer)));
            Options.CONSOLE_OIDC_CLIENT_ID.require(Optional.of(clientId));
            Options.CONSOLE_OIDC_SCOPE.require(scope);
        }
    }

    public ManagementConfig {
        Options.MANAGEMENT_HOST.require(address.host());
        Options.MANAGEMENT_PORT.require(address.port());
    }

    static ManagementConfig from(OptionValues values) {
        Optional<String> clientId = values.get(Options.CONSOLE_OIDC_CLIENT_ID);
        String scope = values.get(Options.CONSOLE_OIDC_SCOPE);
        return new ManagementConfig(
                new ListenAddress(
                        values.get(Options.MANAGEMENT_HOST),
                        values.get(Options.MANAGEMENT_PORT),
                        ListenTls.of(
                                values.get(Options.MANAGEMENT_TLS_CERTIFICATE),
                                values.get(Options.MANAGEMENT_TLS_KEY),
                                Optional.empty())),
                values.get(Options.CONSOLE_OIDC_ISSUER)
                        .map(issuer -> new Oidc(issuer.value(), clientId.orElse(""), scope))
                        .orElse(null));
    }
}
