package dev.hongbao.values;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON objects by RFC 8259, narrowed by I-JSON (RFC 7493): UTF-8 only, no duplicate keys, nothing after the end. It refuses
 * deep nesting and unpaired surrogates. It refuses U+0000, which Postgres cannot store. Integers are exact longs (invariant I12):
 * a number that would be rounded or cut is refused. Thread-safe.
 */
public final class StrictJson {
    /** For bodies and frames of clients: whole numbers only. */
    public static final StrictJson COMMAND = new StrictJson(false, false);
    /** For foreign documents such as a key set: a number with a fraction becomes a double. */
    public static final StrictJson FOREIGN = new StrictJson(true, false);
    /**
     * For a token's claims; most of them are not for this server. Invalid UTF-8 becomes U+FFFD. Texts may hold U+0000 and half a
     * surrogate pair. A whole number of more than 63 bits becomes a double. The reader of a claim checks its value.
     */
    public static final StrictJson CLAIMS = new StrictJson(true, true);

    /** Commands nest at most 3 levels; foreign tokens nest a little deeper. */
    private static final int MAX_DEPTH = 16;

    private static final BigInteger MIN_LONG = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MAX_LONG = BigInteger.valueOf(Long.MAX_VALUE);

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(64)
                    .maxNameLength(256)
                    .build())
            .build();

    /** Far beyond any client's mistake; it bounds the parser's memory. */
    private static final int MAX_REFUSED_DEPTH = 1_000;

    /** Numbers and names may be as long as the document. Names are not interned, so hostile input leaves nothing behind. */
    private static final JsonFactory ANY = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_REFUSED_DEPTH)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private final boolean fractions;
    private final boolean lenient;

    private StrictJson(boolean fractions, boolean lenient) {
        this.fractions = fractions;
        this.lenient = lenient;
    }

    /**
     * Reads one document.
     *
     * @throws InvalidInputException with the place of the first fault
     */
    public JsonObject decode(byte[] utf8) {
        try {
            return decode(lenient ? new String(utf8, StandardCharsets.UTF_8) : text(utf8));
        } catch (CharacterCodingException malformed) {
            throw InvalidInputException.malformedJson("#", Text.of("json.utf8"));
        }
    }

    /** Reads one document, as {@link #decode(byte[])} does. */
    public JsonObject decode(String text) {
        List<JsonObject> objects = new ArrayList<>(1);
        try (JsonParser parser = FACTORY.createParser(text)) {
            each(parser, object -> {
                if (!objects.isEmpty()) {
                    throw InvalidInputException.malformedJson("#", Text.of("json.more"));
                }
                objects.add(object);
            });
        } catch (IOException impossible) {
            throw new IllegalStateException("reading from memory failed", impossible);
        }
        if (objects.isEmpty()) {
            throw InvalidInputException.malformedJson("#", Text.of("json.object"));
        }
        return objects.get(0);
    }

    /**
     * Reads consecutive objects, with white space or nothing between them: a file of several answers looks like that. The reader
     * gets each object before the next one is parsed.
     *
     * @param utf8 is not closed
     * @throws InvalidInputException as {@link #decode(byte[])}
     * @throws IOException if {@code utf8} cannot be read
     */
    public void each(InputStream utf8, Consumer<JsonObject> reader) throws IOException {
        // Not closed: the caller owns the stream.
        JsonParser parser = FACTORY.createParser(new InputStreamReader(utf8, strictUtf8()));
        try {
            each(parser, reader);
        } catch (CharacterCodingException malformed) {
            throw InvalidInputException.malformedJson("#", Text.of("json.utf8"));
        }
    }

    private void each(JsonParser parser, Consumer<JsonObject> reader) throws IOException {
        try {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token != JsonToken.START_OBJECT) {
                    throw InvalidInputException.malformedJson("#", Text.of("json.object"));
                }
                reader.accept(new JsonObject(object(parser)));
            }
        } catch (StreamConstraintsException limit) {
            throw InvalidInputException.malformedJson(place(parser), Text.of("json.too-deep", MAX_DEPTH));
        } catch (JsonParseException malformed) {
            throw InvalidInputException.malformedJson(place(parser), reason(malformed));
        }
    }

    private static CharsetDecoder strictUtf8() {
        return StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
    }

    /** @throws CharacterCodingException for bytes that are not UTF-8 */
    static String text(byte[] utf8) throws CharacterCodingException {
        return strictUtf8().decode(ByteBuffer.wrap(utf8)).toString();
    }

    private Map<String, Object> object(JsonParser parser) throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = checked(parser, parser.currentName());
            parser.nextToken();
            fields.put(name, value(parser));
        }
        return fields;
    }

    private List<Object> array(JsonParser parser) throws IOException {
        List<Object> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(value(parser));
        }
        return items;
    }

    @SuppressWarnings("NullAway") // A JSON null is a null in Vert.x' JSON types.
    private @Nullable Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> new JsonObject(object(parser));
            case START_ARRAY -> new JsonArray(array(parser));
            case VALUE_STRING -> checked(parser, parser.getText());
            case VALUE_NUMBER_INT -> integer(parser);
            case VALUE_NUMBER_FLOAT -> fraction(parser);
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            default -> throw InvalidInputException.malformedJson(place(parser), Text.of("json.value"));
        };
    }

    private Number integer(JsonParser parser) throws IOException {
        BigInteger number = parser.getBigIntegerValue();
        if (number.compareTo(MIN_LONG) < 0 || number.compareTo(MAX_LONG) > 0) {
            if (lenient) {
                return number.doubleValue();
            }
            throw InvalidInputException.of(place(parser), Text.of("json.too-many-bits"));
        }
        return number.longValueExact();
    }

    private Object fraction(JsonParser parser) throws IOException {
        if (!fractions) {
            throw InvalidInputException.of(place(parser), Text.of("json.fraction"));
        }
        return parser.getDoubleValue();
    }

    private String checked(JsonParser parser, String text) {
        if (!lenient && !isKept(text)) {
            throw InvalidInputException.malformedJson(place(parser), Text.of("json.surrogate"));
        }
        return text;
    }

    /** Whether Postgres can store a text. It accepts neither U+0000 nor half a surrogate pair. */
    public static boolean isKept(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (c == 0 || Character.isSurrogate(c)) {
                return false;
            }
        }
        return true;
    }

    /** An object as text without white space, with sorted fields at every depth: equal objects have equal texts. */
    public static String sorted(JsonObject object) {
        return sortedFields(object).encode();
    }

    private static JsonObject sortedFields(JsonObject object) {
        Map<String, Object> fields = new TreeMap<>();
        object.forEach(field -> fields.put(field.getKey(), sortedWithin(field.getValue())));
        return new JsonObject(fields);
    }

    private static Object sortedWithin(Object value) {
        if (value instanceof JsonObject object) {
            return sortedFields(object);
        }
        return value instanceof JsonArray array
                ? new JsonArray(array.stream().map(StrictJson::sortedWithin).toList())
                : value;
    }

    private static String place(JsonParser parser) {
        JsonPointer pointer = parser.getParsingContext().pathAsPointer();
        return "#" + pointer;
    }

    /** The kind of fault, in our words. The parser's message may quote the input, and that may be a passcode. */
    private static Text reason(JsonParseException malformed) {
        String message = String.valueOf(malformed.getOriginalMessage());
        if (message.startsWith("Duplicate field")) {
            return Text.of("json.twice");
        }
        if (message.startsWith("Unexpected end-of-input")) {
            return Text.of("json.incomplete");
        }
        return malformed.getLocation() == null
                ? Text.of("json.malformed")
                : Text.of("json.malformed-at", malformed.getLocation().getCharOffset() + 1);
    }

    /**
     * Returns the text of a field at the top of a JSON object that this class may refuse, such as a request id. An error can then name
     * the request that it answers. No other value is kept, so a document costs one pass.
     *
     * @param utf8 bounded by the caller
     * @return null if the input is not JSON, or nests deeper than 1,000 levels. Null also if the field is absent, is there twice,
     *     is not a text, or holds U+0000 or half a surrogate pair
     */
    public static @Nullable String topText(byte[] utf8, String field) {
        try (JsonParser parser = ANY.createParser(text(utf8))) {
            return parser.nextToken() == JsonToken.START_OBJECT ? topText(parser, field) : null;
        } catch (CharacterCodingException | JsonProcessingException notJson) {
            return null;
        } catch (IOException impossible) {
            throw new IllegalStateException("reading from memory failed", impossible);
        }
    }

    private static @Nullable String topText(JsonParser parser, String field) throws IOException {
        String found = null;
        int times = 0;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            boolean wanted = field.equals(parser.currentName());
            if (parser.nextToken() == JsonToken.VALUE_STRING && wanted) {
                found = parser.getText();
            }
            times += wanted ? 1 : 0;
            parser.skipChildren();
        }
        boolean atItsEnd = parser.nextToken() == null;
        return atItsEnd && times == 1 && found != null && isKept(found) ? found : null;
    }
}
