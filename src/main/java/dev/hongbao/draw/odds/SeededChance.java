package dev.hongbao.draw.odds;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A draw's random numbers, expanded from its seed. Each play has its own list of numbers, and so have each prize's moments in a period. A
 * list depends on nothing else. With the seed, all lists can be computed again.
 *
 * <p>A list's numbers come four at a time: HMAC-SHA256 (RFC 2104) of the list's name and a counter from 0, with the seed as key. Each 8
 * bytes, big-endian, give a number of their upper 52 bits. The name is ASCII: {@code play <turn> <play> <counter>} or {@code moments
 * <period> <prize> <counter>}. This is a format, see the guide's page on fairness: it never changes for an existing draw.
 *
 * <p>Not thread-safe. A list has to be begun before the first number is taken.
 */
public final class SeededChance implements Chance {
    private static final int UNUSED_BITS = Long.SIZE - 52;

    private final Mac mac;
    private String list = "";
    private int counter;
    private ByteBuffer block = ByteBuffer.allocate(0);

    /** @param seed 32 bytes */
    public SeededChance(byte[] seed) {
        try {
            mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(seed, "HmacSHA256"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no HMAC-SHA256", e);
        }
    }

    /**
     * Begins the list of a play.
     *
     * @param turn the id of its request
     * @param play its place in the request, from 0
     */
    public void beginPlay(UUID turn, int play) {
        begin("play " + turn + " " + play + " ");
    }

    /**
     * Begins the list of a prize's moments.
     *
     * @param period from 0
     * @param prize its number, from 1
     */
    public void beginMoments(int period, int prize) {
        begin("moments " + period + " " + prize + " ");
    }

    private void begin(String name) {
        list = name;
        counter = 0;
        block = ByteBuffer.allocate(0);
    }

    @Override
    public long next() {
        if (list.isEmpty()) {
            throw new IllegalStateException("no list of numbers was begun");
        }
        if (!block.hasRemaining()) {
            block = ByteBuffer.wrap(mac.doFinal((list + counter++).getBytes(StandardCharsets.US_ASCII)));
        }
        return block.getLong() >>> UNUSED_BITS;
    }
}
