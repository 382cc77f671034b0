package dev.hongbao.common.config;

import java.util.List;
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
        rule(
                Options.POSTGRES_OWNER_URL,
                Options.POSTGRES_URL,
                values.get(Options.POSTGRES_OWNER_URL).isEmpty()
                        || values.get(Options.POSTGRES_URL).isPresent(),
                "needs postgres.url as well");
        tokens();
    }

    private void tokens() {
        boolean symmetric = values.get(Options.TOKEN_ALGORITHM).isSymmetric();
        boolean hasFiles = !values.get(Options.TOKEN_PUBLIC_KEY_FILES).isEmpty();
        boolean hasJwks = values.get(Options.TOKEN_JWKS_FILE).isPresent();
        String algorithm = values.print(Options.TOKEN_ALGORITHM);
        // A public key taken for an HMAC secret is the classic forgery (RFC 8725, 2.1): never both kinds of key.
        rule(
                Options.TOKEN_SECRET_FILE,
                Options.TOKEN_ALGORITHM,
                symmetric || values.get(Options.TOKEN_SECRET_FILE).isEmpty(),
                "is for HS256 only; token.algorithm is " + algorithm);
        rule(
                Options.TOKEN_PUBLIC_KEY_FILES,
                Options.TOKEN_ALGORITHM,
                !symmetric || !hasFiles,
                "is for RS256 and ES256 only; token.algorithm is " + algorithm);
        rule(
                Options.TOKEN_JWKS_FILE,
                Options.TOKEN_ALGORITHM,
                !symmetric || !hasJwks,
                "is for RS256 and ES256 only; token.algorithm is " + algorithm);
        if (!bad.contains(Options.TOKEN_PUBLIC_KEY_FILES)) {
            rule(
                    Options.TOKEN_ALGORITHM,
                    Options.TOKEN_JWKS_FILE,
                    symmetric || hasFiles || hasJwks,
                    algorithm + " needs token.public-key-files or token.jwks-file");
        }
    }

    private void rule(Option<?> option, Option<?> other, boolean holds, String problem) {
        if (!holds && !bad.contains(option) && !bad.contains(other)) {
            faults.add(new ConfigFault(option.path(), origin.apply(option), problem));
        }
    }
}
