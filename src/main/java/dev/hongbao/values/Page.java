package dev.hongbao.values;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param items in the list's order; may be empty
 * @param next the cursor of the next page, opaque to clients; null on the last page
 */
public record Page<T>(List<T> items, @Nullable String next) {
    /** The largest limit that a client may ask for. */
    public static final int MAX_LIMIT = 200;

    public static final int DEFAULT_LIMIT = 50;

    public Page {
        items = List.copyOf(items);
    }

    /**
     * A page from {@code limit + 1} rows. The extra row only shows that a next page exists.
     *
     * @param cursor makes the cursor that continues after an item
     */
    public static <T> Page<T> of(List<T> rows, int limit, Function<T, String> cursor) {
        if (rows.size() <= limit) {
            return new Page<>(rows, null);
        }
        return new Page<>(rows.subList(0, limit), cursor.apply(rows.get(limit - 1)));
    }

    /** The number in a cursor, or {@code first} without a cursor; null for a cursor that is not a number. */
    public static @Nullable Long number(@Nullable String cursor, long first) {
        try {
            return cursor == null ? first : Long.parseLong(cursor);
        } catch (NumberFormatException malformed) {
            return null;
        }
    }

    /** The refusal of a cursor that no page returned. */
    public static InvalidInputException badCursor() {
        return InvalidInputException.of("query/cursor", Text.of("cursor.unknown"));
    }

    /** Maps the items and keeps the cursor. */
    public <R> Page<R> map(Function<? super T, ? extends R> mapper) {
        return new Page<>(items.stream().<R>map(mapper).toList(), next);
    }
}
