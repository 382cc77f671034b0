package dev.hongbao.web.access;

import dev.hongbao.common.values.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One number per key, by which servers of one database check that they accept the same tokens. It is 32 bits of a salted hash,
 * far too few to find the key. Stateless.
 */
public final class TokenFingerprint {
    private TokenFingerprint() {}

    /**
     * Fingerprints of keys, independent of their order and ids.
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
