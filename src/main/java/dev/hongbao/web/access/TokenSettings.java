package dev.hongbao.web.access;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose tokens are believed.
 *
 * @param keys to begin with, at least one; a token is verified with the keys of its algorithm and, if it names one, its key id
 * @param issuer what {@code iss} must be; null: not checked
 * @param audience what {@code aud} must be or hold; null: not checked
 * @param leeway how far the issuer's clock may be ahead or behind, 0 to 5 minutes
 * @param maxLife how far away {@code exp} may be
 * @param cacheBytes of heap, about, for verified tokens that are remembered until they end; 0: none is.
 *     A group takes its place once for all who are in it, and is not counted
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
