package dev.hongbao.common.json;

import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Free words on a packet, a draw, a campaign or a rain: stored and echoed, never interpreted. Immutable.
 *
 * @param json an object of texts, its keys in order: the same words are the same text
 */
public record Metadata(String json) {
    /** None. */
    public static final Metadata NONE = new Metadata("{}");

    /** Also the contract's, as the next ones. */
    private static final int MOST_KEYS = 20;

    private static final int LONGEST_KEY = 64;

    /** As JSON in UTF-8: it is in every view and event of its subject. */
    private static final int MOST_BYTES = 2_048;

    /**
     * Reads what somebody wrote.
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
            if (!(key instanceof String name) || name.isEmpty() || name.length() > LONGEST_KEY) {
                throw InvalidInputException.of("#/metadata", Text.of("metadata.keys", LONGEST_KEY));
            }
            // Postgres keeps no NUL.
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

    /** The same of an object of a body or a row. */
    public static Metadata ofJson(@Nullable JsonObject fields) {
        return fields == null ? NONE : of(fields.getMap());
    }

    public boolean isEmpty() {
        return equals(NONE);
    }
}
