package dev.hongbao.values;

import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The host application's own texts on a packet, a draw, a campaign or a rain. They are stored and returned, never interpreted.
 * Immutable.
 *
 * @param json an object of texts with sorted keys: equal metadata is equal text
 */
public record Metadata(String json) {
    public static final Metadata NONE = new Metadata("{}");

    /** The contract has the same limits. */
    private static final int MOST_KEYS = 20;

    private static final int LONGEST_KEY = 64;

    /** The limit of {@link #json} in UTF-8. Every view and every event of the subject carries it. */
    private static final int MOST_BYTES = 2_048;

    /**
     * Checks a client's metadata.
     *
     * @param fields null for none
     * @throws InvalidInputException at {@code #/metadata}
     */
    public static Metadata of(@Nullable Map<?, ?> fields) {
        if (fields == null || fields.isEmpty()) {
            return NONE;
        }
        Map<String, Object> sorted = new TreeMap<>();
        fields.forEach((key, value) -> {
            if (!(key instanceof String name)
                    || name.isEmpty()
                    || name.codePointCount(0, name.length()) > LONGEST_KEY) {
                throw InvalidInputException.of("#/metadata", Text.of("metadata.keys", LONGEST_KEY));
            }
            // Postgres cannot store U+0000.
            if (!(value instanceof String text) || (name + text).indexOf('\0') >= 0) {
                throw InvalidInputException.of("#/metadata", Text.of("metadata.values"));
            }
            sorted.put(name, text);
        });
        String json = new JsonObject(sorted).encode();
        if (sorted.size() > MOST_KEYS || json.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
            throw InvalidInputException.of("#/metadata", Text.of("metadata.size", MOST_KEYS, MOST_BYTES));
        }
        return new Metadata(json);
    }

    /**
     * Checks the metadata of a body or a row.
     *
     * @param fields null for none
     * @throws InvalidInputException at {@code #/metadata}
     */
    public static Metadata ofJson(@Nullable JsonObject fields) {
        return fields == null ? NONE : of(fields.getMap());
    }

    public boolean isEmpty() {
        return equals(NONE);
    }
}
