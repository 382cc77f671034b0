package dev.hongbao.draw.odds;

import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.ShownText;
import dev.hongbao.values.Text;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one object of JSON or YAML. Collects all errors instead of stopping at the first: an invalid field yields a harmless
 * value. Not thread-safe.
 */
final class FieldReader {
    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

    private final String pointer;
    private final Map<?, ?> fields;
    private final List<FieldFault> faults;
    private final Set<String> known = new HashSet<>();

    /**
     * @param pointer of the object, without a trailing slash
     */
    FieldReader(String pointer, Map<?, ?> fields, List<FieldFault> faults) {
        this.pointer = pointer;
        this.fields = fields;
        this.faults = faults;
    }

    void fault(String field, Text detail) {
        faults.add(new FieldFault(field.isEmpty() ? pointer : pointer + "/" + field, detail));
    }

    boolean has(String field) {
        return fields.get(field) != null;
    }

    /** The raw value; null when missing. */
    @Nullable
    Object raw(String field) {
        known.add(field);
        return fields.get(field);
    }

    /** Text of 1 to {@code max} characters; null when missing or invalid. */
    @Nullable
    String text(String field, int max) {
        Object value = raw(field);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank() && text.codePointCount(0, text.length()) <= max) {
            return text;
        }
        fault(field, Text.of("text.length", max));
        return null;
    }

    /** Text of 1 to {@code max} characters that may be shown to people ({@link ShownText}); null when missing or invalid. */
    @Nullable
    String shownText(String field, int max) {
        String text = text(field, max);
        if (text != null && !ShownText.isClean(text)) {
            fault(field, ShownText.RULE);
            return null;
        }
        return text;
    }

    String requiredText(String field, int max) {
        String text = text(field, max);
        if (text == null && !has(field)) {
            fault(field, Text.of("field.required"));
        }
        return text == null ? "?" : text;
    }

    /** A whole number in a range; null when missing or invalid. */
    @Nullable
    Long whole(String field, long min, long max) {
        Object value = raw(field);
        if (value == null) {
            return null;
        }
        if ((value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= min
                && ((Number) value).longValue() <= max) {
            return ((Number) value).longValue();
        }
        fault(field, Text.of("number.range", min, max));
        return null;
    }

    long whole(String field, long min, long max, long missing) {
        Long value = whole(field, min, max);
        return value == null ? missing : value;
    }

    long requiredWhole(String field, long min, long max) {
        if (!has(field)) {
            fault(field, Text.of("number.required", min, max));
        }
        return whole(field, min, max, min);
    }

    boolean flag(String field, boolean missing) {
        Object value = raw(field);
        if (value == null) {
            return missing;
        }
        if (value instanceof Boolean flag) {
            return flag;
        }
        fault(field, Text.of("field.true-or-false"));
        return missing;
    }

    /** A moment, cut to Postgres' microseconds; null when missing or invalid. YAML reads an unquoted moment as a date. */
    @Nullable
    Instant moment(String field) {
        Object value = raw(field);
        if (value instanceof Date date) {
            return date.toInstant();
        }
        return parsed(
                field,
                Text.of("time.moment"),
                text -> ofFourDigits(Instant.parse(text).truncatedTo(ChronoUnit.MICROS)));
    }

    /** RFC 3339 has years of four digits. Java reads more, and cannot write some of them. */
    private static Instant ofFourDigits(Instant moment) {
        if (moment.isBefore(FIRST) || !moment.isBefore(END)) {
            throw new DateTimeException("not a year of four digits");
        }
        return moment;
    }

    /** A text for {@code parser}; null when missing or invalid. */
    <T> @Nullable T parsed(String field, Text rule, Function<String, T> parser) {
        Object value = raw(field);
        return value == null ? null : parsed(field, value, rule, parser);
    }

    private <T> @Nullable T parsed(String field, @Nullable Object value, Text rule, Function<String, T> parser) {
        try {
            if (value instanceof String text) {
                return parser.apply(text);
            }
        } catch (IllegalArgumentException | DateTimeException malformed) {
            // reported below
        }
        fault(field, rule);
        return null;
    }

    /** One of an enum's names, in lower case. */
    <E extends Enum<E>> E choice(String field, Class<E> type, E missing) {
        String names = Stream.of(type.getEnumConstants())
                .map(each -> each.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        E chosen = parsed(field, Text.of("text.one-of", names), text -> {
            if (!text.equals(text.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException(text);
            }
            return Enum.valueOf(type, text.toUpperCase(Locale.ROOT));
        });
        return chosen == null ? missing : chosen;
    }

    /** An object's fields; null when missing or invalid. */
    @Nullable
    FieldReader object(String field) {
        Object value = raw(field);
        if (value instanceof Map<?, ?> object) {
            return new FieldReader(pointer + "/" + field, object, faults);
        }
        if (value != null) {
            fault(field, Text.of("field.object"));
        }
        return null;
    }

    /** A list's values; empty when missing or invalid. */
    List<?> list(String field, int max) {
        Object value = raw(field);
        if (value instanceof List<?> list && list.size() <= max) {
            return list;
        }
        if (value != null) {
            fault(field, Text.of("list.too-long", max));
        }
        return List.of();
    }

    /** A list of objects. */
    List<FieldReader> objects(String field, int max) {
        List<?> values = list(field, max);
        for (int i = 0; i < values.size(); i++) {
            if (!(values.get(i) instanceof Map)) {
                fault(field + "/" + i, Text.of("field.object"));
                return List.of();
            }
        }
        return Stream.iterate(0, i -> i + 1)
                .limit(values.size())
                .map(i -> new FieldReader(pointer + "/" + field + "/" + i, (Map<?, ?>) values.get(i), faults))
                .toList();
    }

    /** A list of texts for {@code parser}. Invalid texts are absent. */
    <T> List<T> texts(String field, int max, Text rule, Function<String, T> parser) {
        List<?> values = list(field, max);
        List<T> parsed = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            T one = parsed(field + "/" + i, values.get(i), rule, parser);
            if (one != null) {
                parsed.add(one);
            }
        }
        return parsed;
    }

    /** Reports all fields that were not read. */
    void refuseTheRest() {
        for (Object field : fields.keySet()) {
            if (!known.contains(String.valueOf(field))) {
                fault(String.valueOf(field), Text.of("field.not-known"));
            }
        }
    }
}
