package dev.hongbao.store.postgres;

import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reads the rows of a result, and makes array parameters. Pure. */
public final class Rows {
    private Rows() {}

    /** All rows, in order. */
    public static <T> List<T> list(RowSet<Row> rows, Function<Row, T> read) {
        return StreamSupport.stream(rows.spliterator(), false).map(read).toList();
    }

    /** The first row; null for an empty result. */
    public static <T> @Nullable T first(RowSet<Row> rows, Function<Row, T> read) {
        return rows.size() == 0 ? null : read.apply(rows.iterator().next());
    }

    /** A parameter: one field of each item. */
    public static <I, T> T[] column(Collection<I> items, IntFunction<T[]> array, Function<I, @Nullable T> field) {
        return items.stream().map(field).toArray(array);
    }
}
