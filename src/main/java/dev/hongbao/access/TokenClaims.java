package dev.hongbao.access;

import com.github.benmanes.caffeine.cache.Interner;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.ShownText;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the claims of a token whose signature is right. A claim that is null counts as absent. A claim that no rule reads may have any value.
 *
 * @param known makes one object of all that name the same group
 */
record TokenClaims(Tokens.Settings settings, Clock clock, Interner<GroupId> known) {
    static final int MAX_GROUPS = 1_000;

    /** The refusal repeats at most this many characters of a name. */
    private static final int MAX_SHOWN = 60;

    /** Claims of RFC 7519 and of Hongbao; all other claims are traits of the user. */
    private static final Set<String> NO_TRAITS =
            Set.of("sub", "iss", "aud", "jti", "exp", "nbf", "iat", "role", "groups");

    /** 9999-12-31: what RFC 3339 can say. */
    private static final long MAX_EPOCH_SECONDS = 253_402_300_799L;

    TokenVerdict read(JsonObject claims) {
        long nowSeconds = clock.instant().getEpochSecond();
        Long expires = seconds(claims.getValue("exp"));
        if (expires == null) {
            return TokenVerdict.refused(claims.getValue("exp") == null ? Fault.NO_EXPIRY : Fault.EXPIRY);
        }
        if (nowSeconds >= expires) {
            return TokenVerdict.refused(Fault.EXPIRED);
        }
        if (expires - nowSeconds > settings.maxLife().toSeconds()) {
            return TokenVerdict.refused(Fault.LIFE);
        }
        if (claims.getValue("nbf") != null) {
            Long notBefore = seconds(claims.getValue("nbf"));
            if (notBefore == null) {
                return TokenVerdict.refused(Fault.NOT_BEFORE);
            }
            if (nowSeconds < notBefore) {
                return TokenVerdict.refused(Fault.NOT_YET);
            }
        }
        if (settings.issuer() != null && !settings.issuer().equals(claims.getValue("iss"))) {
            return TokenVerdict.refused(Fault.ISSUER);
        }
        if (settings.audience() != null && !names(claims.getValue("aud"), settings.audience())) {
            return TokenVerdict.refused(Fault.AUDIENCE);
        }
        return caller(claims, Instant.ofEpochSecond(expires));
    }

    private TokenVerdict caller(JsonObject claims, Instant expiresAt) {
        if (!(claims.getValue("sub") instanceof String user) || !UserId.isValid(user)) {
            return TokenVerdict.refused(Fault.SUBJECT);
        }
        List<?> names = names(claims.getValue("groups"));
        if (names == null) {
            return TokenVerdict.refused(Fault.GROUPS);
        }
        Set<GroupId> groups = new HashSet<>();
        for (Object name : names) {
            if (!(name instanceof String group) || !GroupId.isValid(group)) {
                return TokenVerdict.refused(Fault.GROUP, shown(name));
            }
            groups.add(known.intern(new GroupId(group)));
        }
        Role role = role(claims.getValue("role"));
        Long issued = seconds(claims.getValue("iat"));
        return role == null
                ? TokenVerdict.refused(Fault.ROLE)
                : TokenVerdict.believed(new Caller(
                        new UserId(user),
                        groups,
                        role,
                        expiresAt,
                        traits(claims),
                        issued == null ? null : Instant.ofEpochSecond(issued)));
    }

    /** RFC 7519's NumericDate, which may have a fraction; null when it is none. */
    private static @Nullable Long seconds(@Nullable Object date) {
        if (date instanceof Double fraction && fraction >= 0 && fraction <= MAX_EPOCH_SECONDS) {
            return (long) Math.floor(fraction);
        }
        return date instanceof Long whole && whole >= 0 && whole <= MAX_EPOCH_SECONDS ? whole : null;
    }

    private static boolean names(@Nullable Object audience, String expected) {
        return audience instanceof JsonArray several ? several.contains(expected) : expected.equals(audience);
    }

    /** The names of a list of groups, unchecked; empty if absent; null if it is not a list or too long. */
    private static @Nullable List<?> names(@Nullable Object value) {
        if (value == null) {
            return List.of();
        }
        return value instanceof JsonArray names && names.size() <= MAX_GROUPS ? names.getList() : null;
    }

    /** An invalid name, for a sentence: invisible characters become question marks, and a long name is cut. */
    private static String shown(@Nullable Object name) {
        if (!(name instanceof String text)) {
            return name instanceof JsonObject ? "{…}" : name instanceof JsonArray ? "[…]" : String.valueOf(name);
        }
        StringBuilder shown = new StringBuilder("\"");
        text.codePoints()
                .limit(MAX_SHOWN)
                .map(character -> ShownText.isClean(Character.toString(character)) ? character : '?')
                .forEach(shown::appendCodePoint);
        return shown.append(text.codePointCount(0, text.length()) > MAX_SHOWN ? "…\"" : "\"")
                .toString();
    }

    /** The claims that are short texts, in the token's order. */
    private static Map<String, String> traits(JsonObject claims) {
        Map<String, String> traits = new HashMap<>();
        for (Map.Entry<String, Object> claim : claims) {
            if (traits.size() < Caller.MAX_TRAITS
                    && claim.getValue() instanceof String text
                    && isShort(text)
                    && isShort(claim.getKey())
                    && StrictJson.isKept(text)
                    && StrictJson.isKept(claim.getKey())
                    && !NO_TRAITS.contains(claim.getKey())) {
                traits.put(claim.getKey(), text);
            }
        }
        return traits;
    }

    private static boolean isShort(String text) {
        return text.codePointCount(0, text.length()) <= Caller.MAX_TRAIT_LENGTH;
    }

    private static @Nullable Role role(@Nullable Object value) {
        if (value == null || "user".equals(value)) {
            return Role.USER;
        }
        return "service".equals(value) ? Role.SERVICE : null;
    }
}
