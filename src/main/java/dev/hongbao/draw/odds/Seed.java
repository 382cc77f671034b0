package dev.hongbao.draw.odds;

import dev.hongbao.values.Sha256;
import io.vertx.core.json.JsonObject;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

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
    public SeededChance chance() {
        return new SeededChance(bytes);
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
     * The moments of the drops: the list {@code moments 0 1} of {@link SeededChance}, over the milliseconds.
     *
     * @param from included; whole milliseconds
     * @param to excluded; after {@code from}, by less than 10^12 ms
     * @return in order of time
     */
    public List<Instant> moments(Instant from, Instant to, int drops) {
        SeededChance chance = chance();
        chance.beginMoments(0, 1);
        return Arrays.stream(Moments.scatter(chance, from.toEpochMilli(), to.toEpochMilli(), drops))
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
        return new JsonObject(sorted(DefinitionText.of(definition))).encode();
    }

    private static Map<String, Object> sorted(Map<?, ?> fields) {
        Map<String, Object> sorted = new TreeMap<>();
        fields.forEach((name, value) -> sorted.put(String.valueOf(name), sortedWithin(value)));
        return sorted;
    }

    private static Object sortedWithin(Object value) {
        if (value instanceof Map<?, ?> fields) {
            return sorted(fields);
        }
        return value instanceof List<?> list
                ? list.stream().map(Seed::sortedWithin).toList()
                : value;
    }

    @Override
    public String toString() {
        return "a seed";
    }
}
