package dev.hongbao.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Interner;
import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Named;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Verifies tokens (RFC 7519, with the advice of RFC 8725). Accepted tokens are cached until they expire or the keys change, so
 * the hot path costs a look-up. Thread-safe, never blocks; the first sight of a token costs up to about 0.1 ms (RS256).
 */
public final class Tokens {
    /** Longer tokens are refused unread. */
    public static final int MAX_LENGTH = 8 * 1024;

    /** The entry, the token's object, the caller. */
    private static final int ENTRY_BYTES = 400;

    private static final int GROUP_BYTES = 16;

    /** Overhead of a trait beside its texts. */
    private static final int TRAIT_BYTES = 150;

    private final Settings settings;
    private final Clock clock;
    private final Interner<GroupId> groups = Interner.newWeakInterner();
    private volatile Trust trust;
    private volatile BiConsumer<UserId, Profile> names = (user, said) -> {};
    private volatile Predicate<Caller> revoked = caller -> false;

    /** Keys, and the tokens that they verified. Both change together, so that no token stays accepted by a replaced key. */
    private record Trust(List<VerificationKey> keys, Cache<String, TokenVerdict> believed) {}

    /** @param settings with the keys to begin with, see {@link #trust} */
    public Tokens(Settings settings, Clock clock) {
        this.settings = settings;
        this.clock = clock;
        this.trust = new Trust(settings.keys(), memory());
    }

    /**
     * Passes on each token's {@code name} and {@code picture} when it is verified, which is not at every call.
     *
     * @param listener called on any thread; must not block
     */
    public void tellNames(BiConsumer<UserId, Profile> listener) {
        names = listener;
    }

    /**
     * Sets the check for revoked tokens, made at every call.
     *
     * @param known called on any thread; must not block
     */
    public void refuse(Predicate<Caller> known) {
        revoked = known;
    }

    /** Whether the caller's token, accepted before, has been revoked since. */
    public boolean isRevoked(Caller caller) {
        return revoked.test(caller);
    }

    /** Whether a token, accepted before, is void by now: revoked, or signed with a key that is gone. */
    public boolean isVoid(TokenVerdict accepted) {
        return isRevoked(Objects.requireNonNull(accepted.caller()))
                || !trust.keys.contains(Objects.requireNonNull(accepted.key()));
    }

    private Cache<String, TokenVerdict> memory() {
        return Caffeine.newBuilder()
                .maximumWeight(settings.cacheBytes())
                .weigher(Tokens::bytes)
                .executor(Runnable::run)
                .build();
    }

    /**
     * Replaces the keys and empties the cache, so every token is verified again. Safe on any thread.
     *
     * @param keys at least one
     */
    public void trust(Collection<VerificationKey> keys) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("without a key no token could be verified");
        }
        trust = new Trust(List.copyOf(keys), memory());
    }

    /** Approximate heap of a cached token without its groups, which tokens share. */
    private static int bytes(String token, TokenVerdict verdict) {
        Caller caller = verdict.caller();
        if (caller == null) {
            return ENTRY_BYTES + token.length();
        }
        int traits = 0;
        for (Map.Entry<String, String> trait : caller.traits().entrySet()) {
            traits += TRAIT_BYTES + trait.getKey().length() + trait.getValue().length();
        }
        return ENTRY_BYTES + token.length() + GROUP_BYTES * caller.groups().size() + traits;
    }

    /** Approximate heap of the cached tokens; for tests of the cache's bound. */
    long cachedBytes() {
        Cache<String, TokenVerdict> believed = trust.believed;
        believed.cleanUp();
        return believed.policy().eviction().orElseThrow().weightedSize().orElseThrow();
    }

    /** Verifies {@code token} at the current time. */
    public TokenVerdict verify(String token) {
        if (token.length() > MAX_LENGTH) {
            return TokenVerdict.refused(Fault.TOO_LONG);
        }
        Trust now = trust;
        TokenVerdict known = now.believed.getIfPresent(token);
        if (known == null) {
            known = check(token, now.keys);
            if (known.caller() == null) {
                return known;
            }
            now.believed.put(token, known);
        }
        if (known.caller() != null && hasEnded(known.caller().expiresAt().toEpochMilli())) {
            now.believed.invalidate(token);
            return TokenVerdict.refused(Fault.EXPIRED);
        }
        return known.caller() != null && isRevoked(known.caller()) ? TokenVerdict.refused(Fault.REVOKED) : known;
    }

    private boolean hasEnded(long expiresAtMillis) {
        return clock.millis() >= expiresAtMillis;
    }

    private TokenVerdict check(String token, List<VerificationKey> keys) {
        int first = token.indexOf('.');
        int second = token.indexOf('.', first + 1);
        if (first < 1 || second < 0 || token.indexOf('.', second + 1) >= 0) {
            return TokenVerdict.refused(Fault.MALFORMED);
        }
        try {
            JsonObject header = part(token, 0, first);
            byte[] signature = Base64.getUrlDecoder().decode(token.substring(second + 1));
            byte[] input = token.substring(0, second).getBytes(StandardCharsets.US_ASCII);
            TokenVerdict signed = signed(keys, header, input, signature);
            if (signed.fault() != null) {
                return signed;
            }
            JsonObject claims;
            try {
                claims = part(token, first + 1, second);
            } catch (InvalidInputException unreadable) {
                return TokenVerdict.refused(
                        Fault.CLAIMS, unreadable.faults().get(0).detail());
            }
            TokenVerdict verdict = new TokenClaims(settings, clock, groups).read(claims);
            if (verdict.caller() != null && !isRevoked(verdict.caller())) {
                names.accept(
                        verdict.caller().user(), Profile.ofToken(claims.getValue("name"), claims.getValue("picture")));
            }
            return verdict.by(signed.key());
        } catch (InvalidInputException | IllegalArgumentException | ClassCastException malformed) {
            return TokenVerdict.refused(Fault.MALFORMED);
        }
    }

    private static JsonObject part(String token, int from, int to) {
        return StrictJson.CLAIMS.decode(Base64.getUrlDecoder().decode(token.substring(from, to)));
    }

    /** The verdict on the signature alone: its key or the fault. */
    private static TokenVerdict signed(List<VerificationKey> keys, JsonObject header, byte[] input, byte[] signature) {
        String algorithm = header.getString("alg", "");
        String kid = header.getString("kid");
        // RFC 7515, 4.1.11: a critical extension that is not understood makes the token invalid. We understand none.
        if (header.containsKey("crit")) {
            return TokenVerdict.refused(Fault.CRITICAL);
        }
        List<VerificationKey> candidates =
                keys.stream().filter(key -> key.fits(algorithm, kid)).toList();
        if (candidates.isEmpty()) {
            return TokenVerdict.refused(Fault.ALGORITHM);
        }
        for (VerificationKey key : candidates) {
            if (key.verifies(input, signature)) {
                return new TokenVerdict(null, null, null, key);
            }
        }
        return TokenVerdict.refused(Fault.SIGNATURE);
    }

    /**
     * The rules for accepted tokens.
     *
     * @param keys to begin with, at least one; a token is verified with the keys of its algorithm and, if it names one, its key id
     * @param issuer what {@code iss} must be; null: not checked
     * @param audience what {@code aud} must be or hold; null: not checked
     * @param maxLife how far away {@code exp} may be
     * @param cacheBytes approximate heap for verified tokens, cached until they expire; 0: no cache. Groups are shared between tokens
     *     and do not count
     */
    public record Settings(
            List<VerificationKey> keys,
            @Nullable String issuer,
            @Nullable String audience,
            Duration maxLife,
            long cacheBytes) {
        /** For some 60,000 tokens of 400 characters with few groups; what does not fit is verified again. */
        public static final long DEFAULT_CACHE_BYTES = 48 << 20;

        public Settings {
            keys = List.copyOf(keys);
            if (keys.isEmpty()) {
                throw new IllegalArgumentException("without a key no token could be verified");
            }
        }
    }

    /**
     * The result of a token check: either the caller or the fault is set.
     *
     * @param caller null for a refused token
     * @param fault null for an accepted token
     * @param named what the fault names; null for nothing
     * @param key that verifies an accepted token
     */
    public record TokenVerdict(
            @Nullable Caller caller,
            @Nullable Fault fault,
            @Nullable Object named,
            @Nullable VerificationKey key) {
        /** The fault of a refused token. The texts have a sentence for each. */
        public enum Fault implements Named {
            TOO_LONG,
            MALFORMED,
            ALGORITHM,
            CRITICAL,
            SIGNATURE,
            CLAIMS,
            NO_EXPIRY,
            EXPIRY,
            EXPIRED,
            LIFE,
            REVOKED,
            NOT_BEFORE,
            NOT_YET,
            ISSUER,
            AUDIENCE,
            SUBJECT,
            GROUPS,
            GROUP,
            ROLE
        }

        /** The fault as the contract names it, such as {@code not-yet}. */
        public String reason() {
            return Objects.requireNonNull(fault).wireName();
        }

        /** {@link #reason} as a sentence. */
        public Text sentence() {
            return named == null ? Text.of("token." + reason()) : Text.of("token." + reason(), named);
        }

        static TokenVerdict believed(Caller caller) {
            return new TokenVerdict(caller, null, null, null);
        }

        private TokenVerdict by(@Nullable VerificationKey signer) {
            return new TokenVerdict(caller, fault, named, signer);
        }

        /** Refused, by a fault that names nothing. */
        public static TokenVerdict refused(Fault fault) {
            return new TokenVerdict(null, fault, null, null);
        }

        static TokenVerdict refused(Fault fault, Object named) {
            return new TokenVerdict(null, fault, named, null);
        }
    }
}
