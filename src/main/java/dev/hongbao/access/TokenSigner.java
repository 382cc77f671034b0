package dev.hongbao.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.UserId;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Signs tokens with a shared secret (HS256): for the {@code token} command, the demo and tests. Thread-safe. */
public final class TokenSigner {
    private static final JWSHeader ALGORITHM = new JWSHeader(JWSAlgorithm.HS256);
    private static final String HEADER = encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8));

    private final MACSigner signer;
    private final @Nullable String issuer;
    private final @Nullable String audience;
    private final Clock clock;

    /**
     * @param secret at least 32 bytes
     * @param issuer the token's {@code iss}; null for none
     * @param audience the token's {@code aud}; null for none
     */
    public TokenSigner(byte[] secret, @Nullable String issuer, @Nullable String audience, Clock clock) {
        try {
            this.signer = new MACSigner(VerificationKey.hs256(secret).encoded());
        } catch (JOSEException broken) {
            throw new IllegalStateException("this JDK has no HmacSHA256", broken);
        }
        this.issuer = issuer;
        this.audience = audience;
        this.clock = clock;
    }

    /**
     * A token for {@code user}.
     *
     * @param groups at most 1000
     * @param ttl from now, at least a second
     */
    public String sign(UserId user, Collection<GroupId> groups, Role role, Duration ttl) {
        return sign(user, groups, role, ttl, Profile.NONE);
    }

    /**
     * Signs a token that also names the user.
     *
     * @param shown becomes {@code name} and {@code picture}
     */
    public String sign(UserId user, Collection<GroupId> groups, Role role, Duration ttl, Profile shown) {
        if (groups.size() > TokenClaims.MAX_GROUPS || ttl.toSeconds() < 1) {
            throw new IllegalArgumentException("a token names at most 1000 groups and lasts at least a second");
        }
        long now = clock.instant().getEpochSecond();
        JsonText json = new JsonText(256)
                .beginObject()
                .plain("sub", user.value())
                .field("iat", now)
                .field("exp", now + ttl.toSeconds());
        if (issuer != null) {
            json.field("iss", issuer);
        }
        if (audience != null) {
            json.field("aud", audience);
        }
        if (shown.displayName() != null) {
            json.field("name", shown.displayName());
        }
        if (shown.avatar() != null) {
            json.field("picture", shown.avatar().value());
        }
        if (role == Role.SERVICE) {
            json.plain("role", "service");
        }
        json.items("groups", groups, (out, group) -> out.plain(group.value())).endObject();
        String input = HEADER + "." + encode(json.toString().getBytes(StandardCharsets.UTF_8));
        String token = input + "." + signature(input);
        if (token.length() > Tokens.MAX_LENGTH) {
            throw new IllegalArgumentException("a token is at most 8 KiB; name fewer groups");
        }
        return token;
    }

    private String signature(String input) {
        try {
            return signer.sign(ALGORITHM, input.getBytes(StandardCharsets.US_ASCII))
                    .toString();
        } catch (JOSEException broken) {
            throw new IllegalStateException("this JDK has no HmacSHA256", broken);
        }
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
