package dev.hongbao.common.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which tokens are good.
 *
 * @param algorithm the only one accepted
 * @param secretFile HS256: the shared secret, which also signs; null is the key of the data directory
 * @param furtherSecretFiles HS256: secrets whose tokens are believed as well; may be empty
 * @param publicKeyFiles RS256 and ES256: PEM files; may be empty
 * @param jwksFile RS256 and ES256: a JWKS file; null for none
 * @param jwksUrl RS256 and ES256: where the JWKS is published; null for none
 * @param refreshInterval after which files and URL are read again, 1 s to 1 h
 * @param issuer the {@code iss} that is required; null takes any
 * @param audience the {@code aud} that is required; null takes any
 */
public record TokenConfig(
        Algorithm algorithm,
        @Nullable Path secretFile,
        List<Path> furtherSecretFiles,
        List<Path> publicKeyFiles,
        @Nullable Path jwksFile,
        @Nullable SecretUrl jwksUrl,
        Duration refreshInterval,
        @Nullable String issuer,
        @Nullable String audience) {

    /** The signatures there are, named as in RFC 7518. */
    public enum Algorithm {
        HS256,
        RS256,
        ES256;

        /** Whether the one who verifies can also sign. */
        public boolean isSymmetric() {
            return this == HS256;
        }
    }

    public TokenConfig {
        furtherSecretFiles = List.copyOf(furtherSecretFiles);
        publicKeyFiles = List.copyOf(publicKeyFiles);
        Options.TOKEN_JWKS_URL.require(Optional.ofNullable(jwksUrl));
        Options.TOKEN_REFRESH_INTERVAL.require(refreshInterval);
        Options.TOKEN_ISSUER.require(Optional.ofNullable(issuer));
        Options.TOKEN_AUDIENCE.require(Optional.ofNullable(audience));
    }

    static TokenConfig from(OptionValues values) {
        return new TokenConfig(
                values.get(Options.TOKEN_ALGORITHM),
                values.get(Options.TOKEN_SECRET_FILE).orElse(null),
                values.get(Options.TOKEN_FURTHER_SECRET_FILES),
                values.get(Options.TOKEN_PUBLIC_KEY_FILES),
                values.get(Options.TOKEN_JWKS_FILE).orElse(null),
                values.get(Options.TOKEN_JWKS_URL).orElse(null),
                values.get(Options.TOKEN_REFRESH_INTERVAL),
                values.get(Options.TOKEN_ISSUER).orElse(null),
                values.get(Options.TOKEN_AUDIENCE).orElse(null));
    }
}
