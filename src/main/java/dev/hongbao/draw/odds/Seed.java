package dev.hongbao.draw.odds;

import dev.hongbao.values.Sha256;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The seed of a draw or a rain, the source of all its random numbers. It determines the prize of every play, or the moment of every drop.
 * So it is secret until the end, and not part of {@link #toString}. Immutable.
 */
public final class Seed {
    public static final int BYTES = 32;

    private final byte[] bytes;

    /** A new seed. */
    public static Seed drawn(SecureRandom random) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return new Seed(bytes);
    }

    /** @throws IllegalArgumentException when there are not 32 bytes */
    public Seed(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a seed has " + BYTES + " bytes, not " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    /** The seed's random numbers. For one thread. */
    public Numbers chance() {
        return new Numbers(bytes);
    }

    /** The stored bytes. */
    public byte[] toBytes() {
        return bytes.clone();
    }

    /** 64 hexadecimal digits. For closed draws and finished rains only. */
    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    /** The commitment of a draw with this seed: 64 hexadecimal digits. */
    public String commitment(UUID draw, DrawDefinition definition) {
        String text = "hongbao-draw-v1"
                + "\nid=" + draw
                + "\nseed=" + hex()
                + "\ndefinition=" + Sha256.hex(definitionText(definition))
                + "\n";
        return Sha256.hex(text);
    }

    /**
     * The moments of the drops: the list {@code moments 0 1} of {@link Numbers}, over the milliseconds.
     *
     * @param from included; whole milliseconds
     * @param to excluded; after {@code from}, by less than 10^12 ms
     * @return in order of time
     */
    public List<Instant> moments(Instant from, Instant to, int drops) {
        Numbers chance = chance();
        chance.beginMoments(0, 1);
        return Arrays.stream(chance.moments(from.toEpochMilli(), to.toEpochMilli(), drops))
                .mapToObj(Instant::ofEpochMilli)
                .toList();
    }

    /** The commitment of a rain with this seed to these moments: 64 hexadecimal digits. Postgres computes it too. */
    public String commitment(UUID rain, Instant from, Instant to, int drops) {
        return Sha256.hex(text(rain, from, to, drops));
    }

    /** The digested text: six lines of ASCII, each with a line feed at its end. */
    public String text(UUID rain, Instant from, Instant to, int drops) {
        return "hongbao-rain-v1"
                + "\nid=" + rain
                + "\nseed=" + hex()
                + "\nfrom=" + from.toEpochMilli()
                + "\nto=" + to.toEpochMilli()
                + "\ndrops=" + drops
                + "\n";
    }

    /** A definition in the commitment's form, also shown by a closed draw: JSON without white space, with sorted fields. */
    public static String definitionText(DrawDefinition definition) {
        return StrictJson.sorted(new JsonObject(DefinitionText.of(definition)));
    }

    @Override
    public String toString() {
        return "a seed";
    }

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
    public static final class Numbers implements Chance {
        private static final int UNUSED_BITS = Long.SIZE - 52;

        private final Mac mac;
        private String list = "";
        private int counter;
        private ByteBuffer block = ByteBuffer.allocate(0);

        /** @param seed 32 bytes */
        public Numbers(byte[] seed) {
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
         * The release moments of a prize in a period (article 4).
         *
         * @param period from 0
         * @param prize its number, from 1; no fallback
         * @param quota the changed quota; null for the definition's
         * @return in milliseconds, in order of time
         */
        public long[] moments(DrawDefinition definition, int period, int prize, @Nullable Long quota) {
            return moments(
                    period,
                    prize,
                    definition.periodStart(period),
                    definition.periodStart(period + 1),
                    quota == null ? definition.quota(definition.prizes().get(prize - 1), period) : quota);
        }

        /**
         * The moments of one of the seed's lists.
         *
         * @param from included
         * @param to excluded; less than 10^12 ms (31 years) after {@code from}. If it is not after {@code from}, all moments are at {@code
         *     from}
         * @param count limited to 0 and {@link DrawDefinition#MAX_RELEASES}
         * @return in milliseconds, in order of time
         */
        public long[] moments(int period, int prize, Instant from, Instant to, long count) {
            beginMoments(period, prize);
            long start = from.toEpochMilli();
            return moments(start, Math.max(start + 1, to.toEpochMilli()), (int)
                    Math.max(0, Math.min(count, DrawDefinition.MAX_RELEASES)));
        }

        /**
         * Begins the list of a prize's moments.
         *
         * @param period from 0
         * @param prize its number, from 1
         */
        void beginMoments(int period, int prize) {
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
}
