package dev.hongbao.access;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;

/**
 * Follows an append-only table, numbered by {@code n} in the order of commits. Delivers the state at the start, then each new row in order,
 * soon after its commit. Without Postgres it keeps its last state. Thread-safe; it delivers on any thread, and may repeat a row.
 */
final class History {
    private static final long LOOK_MILLIS = 250;

    /** Rows in one query. A full page is followed by the next one at once. */
    private static final int PAGE = 5_000;

    private final Pool pool;
    private final String inForce;
    private final String rows;
    private final Consumer<List<Row>> begin;
    private final Consumer<Row> next;
    private volatile long seen;

    /** True after Postgres stepped back: the known rows have other numbers now. */
    private volatile boolean stale;

    private boolean looking;

    /**
     * Both queries have a column {@code n}.
     *
     * @param inForce the current state of all rows; each result row has the {@code n} of the last of all rows
     * @param rows at most $2 rows after $1, in the order of {@code n}
     * @param begin receives the result of {@code inForce}, which replaces all earlier state
     * @param next receives a row
     */
    History(Pool pool, String inForce, String rows, Consumer<List<Row>> begin, Consumer<Row> next) {
        this.pool = pool;
        this.inForce = inForce;
        this.rows = rows;
        this.begin = begin;
        this.next = next;
    }

    /** Reads the state, then looks for new rows four times a second. Once per Vert.x instance. */
    Future<Void> start(Vertx vertx) {
        return reload().onSuccess(read -> vertx.setPeriodic(LOOK_MILLIS, tick -> look()));
    }

    /** Reads the state again, for a Postgres that stepped back. After a failure, the next poll does it. */
    Future<Void> reload() {
        stale = true;
        return readAll().mapEmpty();
    }

    /** @return less than a full page; the next poll reads rows that came meanwhile */
    private Future<Integer> readAll() {
        return pool.query(inForce).execute().map(this::beginAnew);
    }

    private synchronized int beginAnew(RowSet<Row> found) {
        List<Row> rows = StreamSupport.stream(found.spliterator(), false).toList();
        begin.accept(rows);
        seen = rows.isEmpty() ? 0 : rows.get(0).getLong("n");
        stale = false;
        return 0;
    }

    /** Completes when all rows committed before are delivered. Never fails: a later poll delivers what it could not read. */
    Future<Void> catchUp() {
        return read().otherwise(0).mapEmpty();
    }

    private synchronized void look() {
        if (!looking) {
            looking = true;
            read().onComplete(done -> {
                synchronized (this) {
                    looking = false;
                }
                if (done.succeeded() && done.result() == PAGE) {
                    look();
                }
            });
        }
    }

    private Future<Integer> read() {
        if (stale) {
            return readAll();
        }
        return pool.preparedQuery(rows).execute(Tuple.of(seen, PAGE)).map(this::adopt);
    }

    /** Concurrent reads may have the same rows. No row is delivered after a later one. */
    private synchronized int adopt(RowSet<Row> rows) {
        for (Row row : rows) {
            if (row.getLong("n") > seen) {
                next.accept(row);
                seen = row.getLong("n");
            }
        }
        return rows.size();
    }
}
