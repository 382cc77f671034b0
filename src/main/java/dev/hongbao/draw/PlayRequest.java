package dev.hongbao.draw;

import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Sha256;
import dev.hongbao.values.UserId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * One request for plays under one key (十连抽 for ten): all of them or none.
 *
 * @param id the same for the same draw, user and key, on every server
 * @param plays 1 to {@link #MAX_PLAYS}
 */
record PlayRequest(UUID id, DrawId draw, UserId user, int plays) {
    /** The most plays of one request: a ten-fold draw. */
    static final int MAX_PLAYS = 10;

    /** The request for a key. Its id is derived from draw, user and key. */
    static PlayRequest of(DrawId draw, UserId user, IdempotencyKey key, int plays) {
        // Draw ids and user ids contain no space, so the text is unambiguous.
        String text = draw + " " + user + " " + key.value();
        ByteBuffer bytes = ByteBuffer.wrap(Sha256.of(text.getBytes(StandardCharsets.US_ASCII)));
        // A UUID of version 8, for custom ids (RFC 9562, 5.8).
        long high = bytes.getLong() & 0xffff_ffff_ffff_0fffL | 0x8000L;
        long low = bytes.getLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new PlayRequest(new UUID(high, low), draw, user, plays);
    }
}
