package dev.hongbao.store.postgres;

import dev.hongbao.values.Page;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Cursor;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reads the rows of a result, and makes array parameters. Pure. */
public final class Rows {
    private Rows() {}

    /** All rows, in order. */
    public static <T> List<T> list(RowSet<Row> rows, Function<Row, T> read) {
        return StreamSupport.stream(rows.spliterator(), false).map(read).toList();
    }

    /**
     * A page from {@code limit + 1} rows in the order of {@code id}. Read its items only then: an item left out must not end the list.
     */
    public static Page<Row> page(RowSet<Row> rows, int limit) {
        return Page.of(list(rows, row -> row), limit, row -> row.getUUID("id").toString());
    }

    /** The first row; null for an empty result. */
    public static <T> @Nullable T first(RowSet<Row> rows, Function<Row, T> read) {
        return rows.size() == 0 ? null : read.apply(rows.iterator().next());
    }

    /** A parameter: one field of each item. */
    public static <I, T> T[] column(Collection<I> items, IntFunction<T[]> array, Function<I, @Nullable T> field) {
        return items.stream().map(field).toArray(array);
    }

    /** A parameter: one text of each item. */
    public static <I> String[] texts(Collection<I> items, Function<I, @Nullable String> field) {
        return column(items, String[]::new, field);
    }

    /** A parameter: some shards. */
    public static Short[] shorts(Collection<Integer> shards) {
        return column(shards, Short[]::new, Integer::shortValue);
    }

    /** A parameter: a time. */
    public static OffsetDateTime time(Instant moment) {
        return moment.atOffset(ZoneOffset.UTC);
    }

    /** A time that is never null. */
    public static Instant instant(Row row, String column) {
        return row.getOffsetDateTime(column).toInstant();
    }

    /** A time, or null. */
    public static @Nullable Instant instantOrNull(Row row, String column) {
        return row.getOffsetDateTime(column) == null ? null : instant(row, column);
    }

    /**
     * Processes a long result page by page. One page is held at a time, and no future waits for the next page. A chain of thousands
     * would keep its pages, and overflow the stack when the last one is done. Stateless.
     */
    public static final class Pages {
        /** Rows of a page: a reader of all shards at once sends a command for each, and stays below a link's limit. */
        private static final int ROWS = 500;

        private Pages() {}

        /**
         * Reads and writes page after page.
         *
         * @param <P> where a page begins
         * @param from where the first page begins
         * @param read reads a page; must not complete at once, as no store does
         * @param next where the page after the given one begins; null after the last
         * @param write takes a page that is not empty; the next one is read after its future succeeds
         * @return succeeds after the last page; fails with the first failure of a read or write
         */
        public static <P, T> Future<Void> each(
                P from,
                Function<P, Future<List<T>>> read,
                Function<List<T>, @Nullable P> next,
                Function<List<T>, Future<Void>> write) {
            AtomicReference<P> at = new AtomicReference<>(from);
            return repeat(() -> read.apply(at.get()).compose(page -> {
                @Nullable P after = next.apply(page);
                if (after != null) {
                    at.set(after);
                }
                return (page.isEmpty() ? Future.<Void>succeededFuture() : write.apply(page))
                        .map(written -> after != null);
            }));
        }

        /**
         * Runs page after page, until one reports that it was the last.
         *
         * @param page whether another page follows; must not complete at once
         * @return succeeds after the last page; fails with the first one that fails or throws
         */
        public static Future<Void> repeat(Supplier<Future<Boolean>> page) {
            Promise<Void> done = Promise.promise();
            next(page, done);
            return done.future();
        }

        private static void next(Supplier<Future<Boolean>> page, Promise<Void> done) {
            Future.succeededFuture().compose(begin -> page.get()).onComplete(more -> {
                if (more.failed()) {
                    done.fail(more.cause());
                } else if (more.result()) {
                    next(page, done);
                } else {
                    done.complete();
                }
            });
        }

        /**
         * Calls {@code write} with each page of a query's result in order, the next one after its future succeeds; an empty result gives
         * one empty page.
         *
         * @param tx a connection in a transaction; it is not closed
         * @return fails if the query or a write fails
         */
        public static Future<Void> ofQuery(
                SqlConnection tx, String sql, Tuple parameters, Function<RowSet<Row>, Future<Void>> write) {
            return tx.prepare(sql).compose(statement -> {
                Cursor cursor = statement.cursor(parameters);
                return repeat(() -> cursor.read(ROWS).compose(write).map(written -> cursor.hasMore()))
                        .eventually(statement::close); // and with it the cursor
            });
        }
    }
}
