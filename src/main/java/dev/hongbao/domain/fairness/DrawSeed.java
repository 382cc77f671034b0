package dev.hongbao.domain.fairness;

import dev.hongbao.common.values.Sha256;
import dev.hongbao.domain.odds.DefinitionText;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.SeededChance;
import io.vertx.core.json.JsonObject;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The seed of a draw, the source of all its random numbers. It determines the prize of every play, so it is secret until the draw is
 * closed, and not part of {@link #toString}. Immutable.
 */
public final class DrawSeed {
    public static final int BYTES = 32;

    private final byte[] bytes;

    /** @throws IllegalArgumentException when there are not 32 bytes */
    public DrawSeed(byte[] bytes) {
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

    /** 64 hexadecimal digits. For closed draws only. */
    public String told() {
        return HexFormat.of().formatHex(bytes);
    }

    /** The commitment of a draw with this seed: 64 hexadecimal digits. */
    public String commitment(UUID draw, DrawDefinition definition) {
        String text = "hongbao-draw-v1"
                + "\nid=" + draw
                + "\nseed=" + told()
                + "\ndefinition=" + Sha256.hex(definitionText(definition))
                + "\n";
        return Sha256.hex(text);
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
                ? list.stream().map(DrawSeed::sortedWithin).toList()
                : value;
    }

    @Override
    public String toString() {
        return "a seed";
    }
}
