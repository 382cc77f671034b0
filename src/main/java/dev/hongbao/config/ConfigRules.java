package dev.hongbao.config;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.HongbaoConfig.PostgresConfig;
import dev.hongbao.config.HongbaoConfig.RedisConfig;
import dev.hongbao.config.WebConfig.HttpConfig;
import dev.hongbao.config.WebConfig.ManagementConfig;
import dev.hongbao.config.WebConfig.TokenConfig;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Rules between options. A rule is skipped when one of its options already has a fault. */
final class ConfigRules {
    private final HongbaoConfig config;
    private final Set<String> bad;
    private final List<ConfigException.Fault> faults;
    private final UnaryOperator<String> origin;

    /**
     * @param config with defaults in place of faulty values
     * @param bad the paths of faulty options
     * @param origin an option's source, by its path
     */
    ConfigRules(
            HongbaoConfig config, Set<String> bad, List<ConfigException.Fault> faults, UnaryOperator<String> origin) {
        this.config = config;
        this.bad = Set.copyOf(bad);
        this.faults = faults;
        this.origin = origin;
    }

    void check() {
        HttpConfig http = config.web().http();
        ManagementConfig management = config.web().management();
        rule(
                "management.port",
                "http.port",
                http.port() == 0 || http.port() != management.port(),
                "must differ from http.port (" + http.port() + ")");
        HongbaoConfig.PacketConfig packet = config.domain().packet();
        rule(
                "packet.default-expiry",
                "packet.max-expiry",
                packet.defaultExpiry().compareTo(packet.maxExpiry()) <= 0,
                "must be at most packet.max-expiry (" + Option.printDuration(packet.maxExpiry()) + ")");
        stores(config.engine().redis(), config.engine().postgres());
        rule(
                "console.oidc-client-id",
                "console.oidc-issuer",
                (management.oidcIssuer() == null) == (management.oidcClientId() == null),
                "goes with console.oidc-issuer: give both or none");
        bothOrNone("http.tls-certificate", http.tlsCertificate(), "http.tls-key", http.tlsKey());
        bothOrNone(
                "management.tls-certificate", management.tlsCertificate(), "management.tls-key", management.tlsKey());
        needs("http.tls-client-authority", http.tlsClientAuthority(), "http.tls-certificate", http.tlsCertificate());
        rule(
                "http.proxy-protocol",
                "http.trusted-proxies",
                http.proxyProtocol() == HttpConfig.ProxyProtocol.OFF
                        || !http.trustedProxies().isEmpty(),
                "needs http.trusted-proxies as well: they alone are believed");
        tokens(config.web().token());
    }

    private void stores(RedisConfig redis, PostgresConfig postgres) {
        needs("postgres.owner-url", postgres.ownerUrl(), "postgres.url", postgres.url());
        rule(
                "redis.tls-authority",
                "redis.url",
                redis.tlsAuthority() == null || has(redis.url(), "rediss"),
                "is for a redis.url of rediss://");
        rule(
                "postgres.tls-authority",
                "postgres.url",
                postgres.tlsAuthority() == null
                        || has(postgres.url(), "sslmode=verify-")
                                && (postgres.ownerUrl() == null || has(postgres.ownerUrl(), "sslmode=verify-")),
                "is for URLs with sslmode=verify-ca or sslmode=verify-full");
    }

    private static boolean has(@Nullable SecretUrl url, String part) {
        return url != null && url.value().contains(part);
    }

    private void tokens(TokenConfig token) {
        boolean symmetric = token.algorithm().isSymmetric();
        // Never both kinds of key: a public key used as an HMAC secret is the classic forgery (RFC 8725, 2.1).
        tokenKeys("token.secret-file", symmetric || token.secretFile() == null, "HS256 only");
        tokenKeys(
                "token.further-secret-files",
                symmetric || token.furtherSecretFiles().isEmpty(),
                "HS256 only");
        tokenKeys("token.public-key-files", !symmetric || token.publicKeyFiles().isEmpty(), "RS256 and ES256 only");
        tokenKeys("token.jwks-file", !symmetric || token.jwksFile() == null, "RS256 and ES256 only");
        tokenKeys("token.jwks-url", !symmetric || token.jwksUrl() == null, "RS256 and ES256 only");
        if (!bad.contains("token.public-key-files") && !bad.contains("token.jwks-file")) {
            rule(
                    "token.algorithm",
                    "token.jwks-url",
                    symmetric
                            || !token.publicKeyFiles().isEmpty()
                            || token.jwksFile() != null
                            || token.jwksUrl() != null,
                    token.algorithm() + " needs token.public-key-files, token.jwks-file or token.jwks-url");
        }
    }

    private void tokenKeys(String path, boolean holds, String what) {
        rule(
                path,
                "token.algorithm",
                holds,
                "is for " + what + "; token.algorithm is "
                        + config.web().token().algorithm());
    }

    private void bothOrNone(String path, @Nullable Object value, String other, @Nullable Object its) {
        needs(path, value, other, its);
        needs(other, its, path, value);
    }

    private void needs(String path, @Nullable Object value, String other, @Nullable Object its) {
        rule(path, other, value == null || its != null, "needs " + other + " as well");
    }

    private void rule(String path, String other, boolean holds, String problem) {
        if (!holds && !bad.contains(path) && !bad.contains(other)) {
            faults.add(new ConfigException.Fault(path, origin.apply(path), problem));
        }
    }
}
