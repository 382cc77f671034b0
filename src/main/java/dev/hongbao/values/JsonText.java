package dev.hongbao.values;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON text without reflection or a tree: answers are written up to fifty thousand times a second. The caller pairs each
 * begin with its end. One use, one thread.
 */
public final class JsonText {
    private static final JsonStringEncoder ESCAPES = JsonStringEncoder.getInstance();

    private final StringBuilder out;
    private boolean needsComma;

    /** @param capacity the expected length in characters */
    public JsonText(int capacity) {
        this.out = new StringBuilder(capacity);
    }

    public JsonText beginObject() {
        return begin('{');
    }

    public JsonText endObject() {
        return end('}');
    }

    public JsonText beginArray() {
        return begin('[');
    }

    public JsonText endArray() {
        return end(']');
    }

    /** A field's name: a word of the contract or an id. Its value follows. */
    public JsonText name(String name) {
        comma();
        out.append('"').append(escaped(name)).append("\":");
        needsComma = false;
        return this;
    }

    /** A field with any text; it is escaped. A null becomes JSON's null. */
    public JsonText field(String name, @Nullable String value) {
        name(name);
        if (value == null) {
            return raw("null");
        }
        out.append('"');
        ESCAPES.quoteAsString(value, out);
        out.append('"');
        needsComma = true;
        return this;
    }

    /** A field with a value's text, such as an id, a time or a number's digits. A null becomes JSON's null. */
    public JsonText text(String name, @Nullable Object value) {
        return value == null ? name(name).raw("null") : plain(name, value.toString());
    }

    /** A field with an object, whose fields {@code write} adds. A null becomes JSON's null. */
    public <T> JsonText object(String name, @Nullable T value, BiConsumer<JsonText, T> write) {
        name(name);
        if (value == null) {
            return raw("null");
        }
        beginObject();
        write.accept(this, value);
        return endObject();
    }

    /** A field with a list, whose items {@code write} adds, each one value. */
    public <T> JsonText items(String name, Iterable<T> values, BiConsumer<JsonText, T> write) {
        name(name).beginArray();
        values.forEach(value -> write.accept(this, value));
        return endArray();
    }

    /** A field with a list of objects, whose fields {@code write} adds. */
    public <T> JsonText objects(String name, Iterable<T> values, BiConsumer<JsonText, T> write) {
        return items(name, values, (json, value) -> {
            json.beginObject();
            write.accept(json, value);
            json.endObject();
        });
    }

    /**
     * A field whose value has neither quotes nor control characters, such as an id, an asset, a time, or a word of the contract.
     * Only backslashes are escaped.
     */
    public JsonText plain(String name, String value) {
        return name(name).plain(value);
    }

    /** An item of an array; the value is as in {@link #plain(String, String)}. */
    public JsonText plain(String value) {
        comma();
        out.append('"').append(escaped(value)).append('"');
        needsComma = true;
        return this;
    }

    public JsonText field(String name, long value) {
        name(name);
        out.append(value);
        needsComma = true;
        return this;
    }

    /** A sum of money. It may exceed 2^53, where JavaScript loses digits, so {@code <name>Text} repeats it as a text. */
    public JsonText sum(String name, long value) {
        return field(name, value).name(name + "Text").plain(Long.toString(value));
    }

    public JsonText field(String name, boolean value) {
        return name(name).raw(value ? "true" : "false");
    }

    /** A value that is JSON already; it is not checked. */
    public JsonText raw(String json) {
        comma();
        out.append(json);
        needsComma = true;
        return this;
    }

    private static String escaped(String plain) {
        return plain.indexOf('\\') < 0 ? plain : plain.replace("\\", "\\\\");
    }

    private JsonText begin(char bracket) {
        comma();
        out.append(bracket);
        needsComma = false;
        return this;
    }

    private JsonText end(char bracket) {
        out.append(bracket);
        needsComma = true;
        return this;
    }

    private void comma() {
        if (needsComma) {
            out.append(',');
        }
    }

    @Override
    public String toString() {
        return out.toString();
    }

    /** A document of one value. @param length a guess of its characters */
    public static <T> String of(int length, T value, BiConsumer<JsonText, T> write) {
        JsonText json = new JsonText(length);
        write.accept(json, value);
        return json.toString();
    }

    /** A page of a list, without further fields. @param itemLength a guess of an item's characters */
    public static <T> String page(Page<T> page, int itemLength, BiConsumer<JsonText, T> item) {
        return page(page.items(), page.next(), itemLength, item).endObject().toString();
    }

    /**
     * A page of a list, as an object that stays open for further fields.
     *
     * @param next the cursor of the next page; null for the last
     * @param itemLength a guess of an item's characters
     */
    public static <T> JsonText page(
            List<T> items, @Nullable String next, int itemLength, BiConsumer<JsonText, T> item) {
        JsonText json = new JsonText(itemLength * (items.size() + 1));
        return json.beginObject().items("items", items, item).field("next", next);
    }
}
