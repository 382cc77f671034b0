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
 * @param secrets HS256: whose tokens are believed
 * @param publicKeys RS256 and ES256: whose tokens are believed
 * @param refreshInterval after which files and URL are read again, 1 s to 1 h
 * @param claims what tokens must say
 */
public record TokenConfig(
        Algorithm algorithm, Secrets secrets, PublicKeys publicKeys, Duration refreshInterval, Claims claims) {

    /**
     * What tokens must say.
     *
     * @param issuer the {@code iss} that is required; null takes any
     * @param audience the {@code aud} that is required; null takes any
     * @param maxLife how far away {@code exp} may be, 1 min to 365 d
     */
    public record Claims(@Nullable String issuer, @Nullable String audience, Duration maxLife) {
        public Claims {
            Options.TOKEN_ISSUER.require(Optional.ofNullable(issuer));
            Options.TOKEN_AUDIENCE.require(Optional.ofNullable(audience));
            Options.TOKEN_MAX_LIFE.require(maxLife);
        }
    }

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

    /**
     * The secrets of HS256.
     *
     * @param file the shared secret, which also signs; null is the key of the data directory
     * @param furtherFiles secrets whose tokens are believed as well; may be empty
     */
    public record Secrets(@Nullable Path file, List<Path> furtherFiles) {
        public Secrets {
            furtherFiles = List.copyOf(furtherFiles);
        }
    }

    /**
     * Where the public keys of RS256 and ES256 are.
     *
     * @param files PEM files; may be empty
     * @param jwksFile a JWKS file; null for none
     * @param jwksUrl where the JWKS is published; null for none
     */
    public record PublicKeys(
            List<Path> files,
            @Nullable Path jwksFile,
            @Nullable SecretUrl jwksUrl) {
        public PublicKeys {
            files = List.copyOf(files);
            Options.TOKEN_JWKS_URL.require(Optional.ofNullable(jwksUrl));
        }
    }

    public TokenConfig {
        Options.TOKEN_REFRESH_INTERVAL.require(refreshInterval);
    }

    static TokenConfig from(OptionValues values) {
        return new TokenConfig(
                values.get(Options.TOKEN_ALGORITHM),
                new Secrets(
                        values.get(Options.TOKEN_SECRET_FILE).orElse(null),
                        values.get(Options.TOKEN_FURTHER_SECRET_FILES)),
                new PublicKeys(
                        values.get(Options.TOKEN_PUBLIC_KEY_FILES),
                        values.get(Options.TOKEN_JWKS_FILE).orElse(null),
                        values.get(Options.TOKEN_JWKS_URL, Options.TOKEN_JWKS_URL_FILE)
                                .orElse(null)),
                values.get(Options.TOKEN_REFRESH_INTERVAL),
                new Claims(
                        values.get(Options.TOKEN_ISSUER).orElse(null),
                        values.get(Options.TOKEN_AUDIENCE).orElse(null),
                        values.get(Options.TOKEN_MAX_LIFE)));
    }
}
