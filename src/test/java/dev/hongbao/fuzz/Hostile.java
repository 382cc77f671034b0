package dev.hongbao.fuzz;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.shareddata.Shareable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Values that do not fit, or only nearly: in JSON, in texts, in headers. Immutable. */
public final class Hostile {
    /** Stands in a tree for text that is no JSON value of the library's. */
    private static final String RAW = "\uE000";

    /** As they stand in a body. */
    private static final List<String> NUMBERS = List.of(
            "0",
            "-0",
            "-1",
            "1",
            "0.1",
            "1.0",
            "1e2",
            "1E400",
            "-1e400",
            "1e-400",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "18446744073709551616",
            "100000000000000",
            "99999999999999",
            "0123",
            "+1",
            "1.",
            ".5",
            "0x10",
            "NaN",
            "Infinity",
            "1_000",
            "1".repeat(400),
            "true",
            "nul");

    private static final List<String> TEXTS = List.of(
            "",
            " ",
            "\u0000",
            "a\u0000b",
            "\r\nX-Injected: 1",
            "\u2028",
            "\u202eevil",
            "😀".repeat(40),
            "é",
            "e\u0301",
            "\ufeff",
            "\ud800",
            "\udc00x",
            "null",
            "true",
            "{}",
            "[]",
            "'; drop table transfer; --",
            "\" or 1=1",
            "\\",
            "%00",
            "%s%n",
            "${jndi:ldap://127.0.0.1/x}",
            "../../etc/passwd",
            "<script>alert(1)</script>",
            "#",
            "!",
            "*",
            "=",
            "~",
            "0",
            "-1",
            "00",
            "1e9",
            "99999999999999999999",
            "2026-02-30T00:00:00Z",
            "9999-12-31T23:59:60Z",
            "+1000000000-01-01T00:00:00Z",
            "-999999999-01-01T00:00:00Z",
            "2026-01-01T00:00:00+99:99",
            "2026-01-01T00:00:00.1234567890123Z",
            "0000-00-00",
            "10000-01-01",
            "01939d1e-8c00-7000-8000-000000000001",
            "01939D1E-8C00-7000-8000-000000000001",
            "01939d1e8c0070008000000000000001",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "1-1-1-1-1",
            "http://127.0.0.1:9/",
            "https://[::1]:9/",
            "https://a:b@127.0.0.1/",
            "https://127.0.0.1:99999/",
            "https://%",
            "Mars/Olympus",
            "UTC+25",
            "rain:01939d1e-8c00-7000-8000-000000000001",
            "draw:1",
            "a".repeat(65),
            "a".repeat(129),
            "a".repeat(5_000),
            "字".repeat(300));

    private final List<Object> values = new ArrayList<>();
    private final List<String> texts;

    /** @param bounds numbers that matter here, and those beside them */
    public Hostile(List<Long> bounds) {
        List<String> lengths = bounds.stream()
                .filter(bound -> bound >= 0 && bound <= 2_000)
                .map(bound -> "a".repeat(bound.intValue()))
                .toList();
        texts = Stream.concat(TEXTS.stream(), lengths.stream()).toList();
        values.addAll(texts);
        values.addAll(bounds);
        NUMBERS.forEach(number -> values.add(RAW + number));
        values.addAll(Arrays.asList(null, true, false, new JsonObject(), new JsonArray()));
        values.add(new JsonArray(LongStream.range(0, 1_200).boxed().collect(Collectors.toList())));
        values.add(new JsonArray().add("a").add("a"));
        values.add(new JsonArray().add(new JsonArray().add(new JsonObject())));
        values.add(new JsonObject().put("a", new JsonObject().put("b", new JsonArray())));
    }

    /** A text, also an empty or a long one. */
    public String text(Input input) {
        return input.pick(texts);
    }

    /** Its own, since a list may be spoilt further. */
    private Object value(Input input) {
        Object value = input.pick(values);
        return value instanceof Shareable tree ? tree.copy() : value;
    }

    /** The text of a tree in which so many places are not as they were. It is changed. */
    public byte[] spoilt(Input input, JsonObject tree, int places) {
        for (int i = 0; i < places; i++) {
            spoil(input, tree);
        }
        StringBuilder text = new StringBuilder(tree.encode());
        for (int at = text.indexOf('"' + RAW); at >= 0; at = text.indexOf('"' + RAW)) {
            int end = text.indexOf("\"", at + 2);
            text.deleteCharAt(end).delete(at, at + 2);
        }
        return input.oneIn(places == 0 ? 50 : 8) ? garbled(input, text) : bytes(text);
    }

    private void spoil(Input input, JsonObject tree) {
        JsonObject place = tree;
        List<String> names = new ArrayList<>(place.fieldNames());
        while (!names.isEmpty() && place.getValue(input.pick(names)) instanceof JsonObject inner && !inner.isEmpty()) {
            place = inner;
            names = new ArrayList<>(place.fieldNames());
        }
        String name = names.isEmpty() ? "x" : input.pick(names);
        switch (input.random().nextInt(8)) {
            case 0 -> place.remove(name);
            case 1 -> place.put(text(input), value(input));
            case 2 -> place.put(name + "x", place.getValue(name));
            case 3 -> {
                if (place.getValue(name) instanceof JsonArray list) {
                    list.add(value(input));
                } else {
                    place.put(name, new JsonArray().add(String.valueOf(place.getValue(name))));
                }
            }
            default -> place.put(name, value(input));
        }
    }

    private static byte[] bytes(CharSequence text) {
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** No JSON any more, most times. */
    private static byte[] garbled(Input input, StringBuilder text) {
        int at = input.random().nextInt(text.length());
        switch (input.random().nextInt(10)) {
            case 0 -> text.setLength(at);
            case 1 -> text.insert(at, input.pick("\u0000", "\"", "}", "{", ",", "\\", "/*x*/", "\ud800", "\u00a0"));
            case 2 -> text.append(input.pick("{}", "x", " ", "\u0000", "]"));
            case 3 -> text.insert(0, "\ufeff");
            case 4 -> text.insert(1, "\"a\":" + "[".repeat(5_000) + "]".repeat(5_000) + ",");
            case 5 -> text.insert(1, "\"amount\":1,\"amount\":2,");
            case 6 -> text.replace(0, text.length(), text.toString().replace('"', '\''));
            case 7 -> text.insert(1, " ".repeat(20_000));
            case 8 -> text.replace(0, text.length(), input.pick("", "null", "[]", "7", "\"x\"", "[".repeat(60_000)));
            default -> {
                byte[] broken = bytes(text);
                broken[input.random().nextInt(broken.length)] =
                        (byte) input.random().nextInt(256);
                return broken;
            }
        }
        return bytes(text);
    }
}
