package dev.hongbao.domain.odds;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** Numbers from SecureRandom, read in blocks of some hundred. For simulations; a draw's numbers come from its seed. Not thread-safe. */
public final class SecureChance implements Chance {
    private static final int BUFFER_BYTES = 2048;

    private final SecureRandom random = new SecureRandom();
    private final byte[] bytes = new byte[BUFFER_BYTES];
    private final ByteBuffer buffer = ByteBuffer.wrap(bytes).position(BUFFER_BYTES);

    @Override
    public long next() {
        if (!buffer.hasRemaining()) {
            random.nextBytes(bytes);
            buffer.rewind();
        }
        return buffer.getLong() >>> 12;
    }
}
