package dev.hongbao.common.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/**
 * Reads one top-level text, such as a request id, from a document that {@link StrictJson} refuses. An error can then name the
 * request that it answers. No other value is kept, so a document costs one pass. Thread-safe.
 */
public final class RefusedJson {
    /** Far beyond any client's mistake; it bounds the parser's memory. */
    private static final int MAX_DEPTH = 1_000;

    /** Numbers and names may be as long as the document. Names are not interned, so hostile input leaves nothing behind. */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private RefusedJson() {}

    /**
     * Returns the text of a field at the top of a JSON object. The other fields are ignored.
     *
     * @param utf8 bounded by the caller
     * @return null if the input is not JSON, or nests deeper than 1,000 levels. Null also if the field is absent, is there twice,
     *     is not a text, or holds U+0000 or half a surrogate pair
     */
    public static @Nullable String topText(byte[] utf8, String field) {
        try (JsonParser parser = FACTORY.createParser(StrictJson.text(utf8))) {
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
        return atItsEnd && times == 1 && found != null && StrictJson.isKept(found) ? found : null;
    }
}
