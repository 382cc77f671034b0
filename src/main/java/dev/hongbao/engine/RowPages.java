package dev.hongbao.engine;

import dev.hongbao.store.postgres.Pages;
import io.vertx.core.Future;
import io.vertx.sqlclient.Cursor;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.function.Function;

/** Reads a long result page by page, so that a shard of any size loads in bounded memory. Stateless. */
public final class RowPages {
    /** Rows read, and commands sent, at a time. All shards at once stay below a link's limit. */
    private static final int PAGE = 500;

    private RowPages() {}

    /**
     * Reads rows for a generation's keys. Calls {@code write} with each page in order, the next one after its future succeeds; an
     * empty result gives one empty page. Before each other page it checks that the generation is still current.
     *
     * @return fails if the query or a write fails, or if another generation has replaced this one
     */
    public static Future<Void> each(
            Pool pool, Generation generation, String sql, Tuple parameters, Function<RowSet<Row>, Future<Void>> write) {
        return pool.withTransaction(tx -> each(
                tx,
                sql,
                parameters,
                rows -> rows.size() == 0
                        ? write.apply(rows)
                        : tx.preparedQuery("select from shard where id = $1 and epoch = $2 and nonce = $3")
                                .execute(Tuple.of((short) generation.shard(), generation.epoch(), generation.nonce()))
                                .compose(standing -> standing.rowCount() == 1
                                        ? write.apply(rows)
                                        : Future.failedFuture(new IllegalStateException(
                                                generation + " was replaced while it was loaded")))));
    }

    /**
     * Calls {@code write} with each page in order, the next one after its future succeeds; an empty result gives one empty page.
     *
     * @param tx a connection in a transaction; it is not closed
     * @return fails if the query or a write fails
     */
    public static Future<Void> each(
            SqlConnection tx, String sql, Tuple parameters, Function<RowSet<Row>, Future<Void>> write) {
        return tx.prepare(sql).compose(statement -> {
            Cursor cursor = statement.cursor(parameters);
            return Pages.repeat(() -> cursor.read(PAGE).compose(write).map(written -> cursor.hasMore()))
                    .eventually(statement::close); // and with it the cursor
        });
    }
}
