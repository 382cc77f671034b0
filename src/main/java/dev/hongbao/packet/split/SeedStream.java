package dev.hongbao.packet.split;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The random numbers of one split, expanded from its seed: the key stream of AES-256 in counter mode (NIST SP 800-38A, 6.5). The seed is
 * the key, and a fixed label the upper 12 bytes of the first counter block. Without the seed, the stream is indistinguishable from noise.
 * Known amounts do not predict further ones, as they do with {@code java.util.Random}.
 *
 * <p>This is format {@code v1}. Seeds are stored with packets, so neither the stream nor the way to take a bounded number may change. A new
 * way needs a new label. AES instead of ChaCha20: the JDK has it in hardware, and ChaCha20 only from 20 on.
 *
 * <p>Not thread-safe; one split owns one stream. The lower 4 counter bytes last for 64 GiB; a split of 100,000 shares takes less than 100
 * MiB.
 */
final class SeedStream {
    static final int SEED_BYTES = 32;

    private static final byte[] LABEL = "hb-split-v1:".getBytes(StandardCharsets.US_ASCII);
    private static final int COUNTER_BLOCK_BYTES = 16;
    /** One refill. A packet of ten shares needs about 300 bytes, and larger refills were no faster. */
    private static final int BUFFER_BYTES = 1024;

    private static final byte[] ZEROS = new byte[BUFFER_BYTES];

    private final Cipher cipher;
    private final byte[] bytes = new byte[BUFFER_BYTES];
    private final ByteBuffer buffer = ByteBuffer.wrap(bytes).position(BUFFER_BYTES);

    /** @throws IllegalArgumentException when the seed does not have 32 bytes */
    SeedStream(byte[] seed) {
        if (seed.length != SEED_BYTES) {
            throw new IllegalArgumentException("a seed has " + SEED_BYTES + " bytes, not " + seed.length);
        }
        byte[] firstBlock = new byte[COUNTER_BLOCK_BYTES];
        System.arraycopy(LABEL, 0, firstBlock, 0, LABEL.length);
        try {
            cipher = Cipher.getInstance("AES/CTR/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(seed, "AES"), new IvParameterSpec(firstBlock));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no AES-256 in counter mode", e);
        }
    }

    /** The next 8 bytes of the stream, big-endian. */
    long nextLong() {
        if (!buffer.hasRemaining()) {
            refill();
        }
        return buffer.getLong();
    }

    /**
     * A number from 0 to {@code bound} - 1, each with the same probability exactly. Takes the upper bits of the next long, as many as
     * {@code bound} - 1 has, until they are below {@code bound}: less than two longs on average. A bound of 1 takes nothing from the
     * stream.
     *
     * @param bound 1 to 2^62
     */
    long nextLong(long bound) {
        if (bound < 1 || bound > 1L << 62) {
            throw new IllegalArgumentException("bound " + bound);
        }
        if (bound == 1) {
            return 0;
        }
        int unused = Long.numberOfLeadingZeros(bound - 1);
        long candidate = nextLong() >>> unused;
        while (candidate >= bound) {
            candidate = nextLong() >>> unused;
        }
        return candidate;
    }

    private void refill() {
        try {
            int written = cipher.update(ZEROS, 0, BUFFER_BYTES, bytes, 0);
            if (written != BUFFER_BYTES) {
                throw new IllegalStateException("a stream cipher returned " + written + " bytes");
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
        buffer.rewind();
    }
}
