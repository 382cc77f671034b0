package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** What must hold between options. A rule is skipped when one of its options is already at fault by itself. */
final class ConfigRules {
    private final OptionValues values;
    private final Set<Option<?>> bad;
    private final List<ConfigFault> faults;
    private final Function<Option<?>, String> origin;

    ConfigRules(OptionValues values, Set<Option<?>> bad, List<ConfigFault> faults, Function<Option<?>, String> origin) {
        this.values = values;
        this.bad = Set.copyOf(bad);
        this.faults = faults;
        this.origin = origin;
    }

    void check() {
        int port = values.get(Options.HTTP_PORT);
        rule(
                Options.MANAGEMENT_PORT,
                Options.HTTP_PORT,
                port == 0 || port != values.get(Options.MANAGEMENT_PORT),
                "must differ from http.port (" + port + ")");
        rule(
                Options.PACKET_DEFAULT_EXPIRY,
                Options.PACKET_MAX_EXPIRY,
                values.get(Options.PACKET_DEFAULT_EXPIRY).compareTo(values.get(Options.PACKET_MAX_EXPIRY)) <= 0,
                "must be at most packet.max-expiry (" + values.print(Options.PACKET_MAX_EXPIRY) + ")");
        needs(Options.POSTGRES_OWNER_URL, Options.POSTGRES_URL);
        boolean hasIssuer = values.get(Options.CONSOLE_OIDC_ISSUER).isPresent();
        rule(
                Options.CONSOLE_OIDC_CLIENT_ID,
                Options.CONSOLE_OIDC_ISSUER,
                hasIssuer == values.get(Options.CONSOLE_OIDC_CLIENT_ID).isPresent(),
                "goes with console.oidc-issuer: give both or none");
        allOrNone(Options.CLUSTER_TLS_CERTIFICATE, Options.CLUSTER_TLS_KEY, Options.CLUSTER_TLS_AUTHORITY);
        allOrNone(Options.HTTP_TLS_CERTIFICATE, Options.HTTP_TLS_KEY);
        allOrNone(Options.MANAGEMENT_TLS_CERTIFICATE, Options.MANAGEMENT_TLS_KEY);
        needs(Options.HTTP_TLS_CLIENT_AUTHORITY, Options.HTTP_TLS_CERTIFICATE);
        rule(
                Options.HTTP_PROXY_PROTOCOL,
                Options.HTTP_TRUSTED_PROXIES,
                values.get(Options.HTTP_PROXY_PROTOCOL) == HttpConfig.ProxyProtocol.OFF
                        || !values.get(Options.HTTP_TRUSTED_PROXIES).isEmpty(),
                "needs http.trusted-proxies as well: they alone are believed");
        tokens();
    }

    @SafeVarargs
    private void allOrNone(Option<Optional<Path>>... files) {
        for (Option<Optional<Path>> file : files) {
            for (Option<Optional<Path>> other : files) {
                needs(file, other);
            }
        }
    }

    private void needs(Option<? extends Optional<?>> option, Option<? extends Optional<?>> other) {
        rule(
                option,
                other,
                values.get(option).isEmpty() || values.get(other).isPresent(),
                "needs " + other.path() + " as well");
    }

    private void tokens() {
        boolean symmetric = values.get(Options.TOKEN_ALGORITHM).isSymmetric();
        boolean hasFiles = !values.get(Options.TOKEN_PUBLIC_KEY_FILES).isEmpty();
        boolean hasJwksFile = values.get(Options.TOKEN_JWKS_FILE).isPresent();
        boolean hasJwksUrl = values.get(Options.TOKEN_JWKS_URL).isPresent();
        // A public key taken for an HMAC secret is the classic forgery (RFC 8725, 2.1): never both kinds of key.
        tokenKeys(
                Options.TOKEN_SECRET_FILE,
                symmetric || values.get(Options.TOKEN_SECRET_FILE).isEmpty(),
                "HS256 only");
        tokenKeys(
                Options.TOKEN_FURTHER_SECRET_FILES,
                symmetric || values.get(Options.TOKEN_FURTHER_SECRET_FILES).isEmpty(),
                "HS256 only");
        tokenKeys(Options.TOKEN_PUBLIC_KEY_FILES, !symmetric || !hasFiles, "RS256 and ES256 only");
        tokenKeys(Options.TOKEN_JWKS_FILE, !symmetric || !hasJwksFile, "RS256 and ES256 only");
        tokenKeys(Options.TOKEN_JWKS_URL, !symmetric || !hasJwksUrl, "RS256 and ES256 only");
        if (!bad.contains(Options.TOKEN_PUBLIC_KEY_FILES) && !bad.contains(Options.TOKEN_JWKS_FILE)) {
            rule(
                    Options.TOKEN_ALGORITHM,
                    Options.TOKEN_JWKS_URL,
                    symmetric || hasFiles || hasJwksFile || hasJwksUrl,
                    values.print(Options.TOKEN_ALGORITHM)
                            + " needs token.public-key-files, token.jwks-file or token.jwks-url");
        }
    }

    private void tokenKeys(Option<?> option, boolean holds, String what) {
        rule(
                option,
                Options.TOKEN_ALGORITHM,
                holds,
                "is for " + what + "; token.algorithm is " + values.print(Options.TOKEN_ALGORITHM));
    }

    private void rule(Option<?> option, Option<?> other, boolean holds, String problem) {
        if (!holds && !bad.contains(option) && !bad.contains(other)) {
            faults.add(new ConfigFault(option.path(), origin.apply(option), problem));
        }
    }
}
