package dev.hongbao.web.access;

import dev.hongbao.common.values.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Numbers, one a key, that two servers of one database compare to find out whether they believe the same tokens: 32 bits of a
 * salted hash, far too few to find a key by. Stateless.
 */
public final class TokenFingerprint {
    private TokenFingerprint() {}

    /**
     * The same for the same keys in any order, whatever their ids.
     *
     * @param salt of the database
     */
    public static Set<Integer> of(Collection<VerificationKey> keys, String salt) {
        return keys.stream().map(key -> of(key, salt)).collect(Collectors.toUnmodifiableSet());
    }

    private static int of(VerificationKey key, String salt) {
        MessageDigest digest = Sha256.begin();
        digest.update(("hongbao token key of " + salt).getBytes(StandardCharsets.UTF_8));
        digest.update((byte) 0);
        return ByteBuffer.wrap(digest.digest(key.encoded())).getInt();
    }
}
