package dev.hongbao.web.access;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;

/**
 * A number that two servers of one database compare to find out whether they believe the same tokens: 32 bits of a salted hash, far
 * too few to find the keys by. Stateless.
 */
public final class TokenFingerprint {
    private TokenFingerprint() {}

    /**
     * The same for the same keys in any order; never 0.
     *
     * @param salt of the database
     */
    public static int of(TokenSettings tokens, String salt) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(("hongbao token keys of " + salt).getBytes(StandardCharsets.UTF_8));
            tokens.keys().stream()
                    .map(key -> key.key().getEncoded())
                    .sorted(Comparator.comparing(ByteBuffer::wrap))
                    .forEach(encoded -> {
                        digest.update((byte) 0);
                        digest.update(encoded);
                    });
            int number = ByteBuffer.wrap(Arrays.copyOf(digest.digest(), Integer.BYTES))
                    .getInt();
            return number == 0 ? 1 : number;
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every JDK has SHA-256", missing);
        }
    }
}
