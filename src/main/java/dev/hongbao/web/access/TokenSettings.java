package dev.hongbao.web.access;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules for accepted tokens.
 *
 * @param keys to begin with, at least one; a token is verified with the keys of its algorithm and, if it names one, its key id
 * @param issuer what {@code iss} must be; null: not checked
 * @param audience what {@code aud} must be or hold; null: not checked
 * @param leeway how far the issuer's clock may be ahead or behind, 0 to 5 minutes
 * @param maxLife how far away {@code exp} may be
 * @param cacheBytes approximate heap for verified tokens, cached until they expire; 0: no cache. Groups are shared between tokens
 *     and do not count
 */
public record TokenSettings(
        List<VerificationKey> keys,
        @Nullable String issuer,
        @Nullable String audience,
        Duration leeway,
        Duration maxLife,
        long cacheBytes) {
    /** For some 60,000 tokens of 400 characters with few groups; what does not fit is verified again. */
    public static final long DEFAULT_CACHE_BYTES = 48 << 20;

    private static final Duration MAX_LEEWAY = Duration.ofMinutes(5);

    public TokenSettings {
        keys = List.copyOf(keys);
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("without a key no token could be verified");
        }
        if (leeway.isNegative() || leeway.compareTo(MAX_LEEWAY) > 0) {
            throw new IllegalArgumentException("the leeway is from 0 to 5 minutes");
        }
    }
}
