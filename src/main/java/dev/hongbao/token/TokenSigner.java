package dev.hongbao.token;

import dev.hongbao.command.GroupId;
import dev.hongbao.command.Role;
import dev.hongbao.command.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** PLACEHOLDER of the command line's branch: the token package's own class replaces this file on merge. */
public final class TokenSigner {
    private TokenSigner() {}

    /** An HS256 token without iss and aud. */
    public static String sign(TokenKey key, UserId user, Collection<GroupId> groups, Role role, Duration ttl) {
        return sign(key, user, groups, role, ttl, null, null);
    }

    /** An HS256 token; null leaves the claim out. */
    public static String sign(
            TokenKey key,
            UserId user,
            Collection<GroupId> groups,
            Role role,
            Duration ttl,
            @Nullable String issuer,
            @Nullable String audience) {
        long now = Instant.now().getEpochSecond();
        JsonObject claims = new JsonObject()
                .put("sub", user.value())
                .put("groups", new JsonArray(groups.stream().map(GroupId::value).toList()))
                .put("role", role.name().toLowerCase(Locale.ROOT))
                .put("iat", now)
                .put("exp", now + ttl.toSeconds());
        if (issuer != null) {
            claims.put("iss", issuer);
        }
        if (audience != null) {
            claims.put("aud", audience);
        }
        String head = encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8));
        String signed = head + "." + encode(claims.encode().getBytes(StandardCharsets.UTF_8));
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.secret(), "HmacSHA256"));
            return signed + "." + encode(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
