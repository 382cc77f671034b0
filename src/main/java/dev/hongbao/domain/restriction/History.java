package dev.hongbao.domain.restriction;

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
 * Follows an append-only table whose rows are numbered by {@code n} in the order of their commits: what there is, then each new row, in
 * that order, soon after it is committed. While Postgres is away it knows what it knew. Thread-safe; what it tells comes on any
 * thread, and a row may be told again.
 */
final class History {
    private static final long LOOK_MILLIS = 250;

    /** Rows read at once; a look that is full is followed by the next one at once. */
    private static final int PAGE = 5_000;

    private final Pool pool;
    private final Reading reading;
    private final Consumer<List<Row>> begin;
    private final Consumer<Row> next;
    private volatile long seen;

    /** What is known is of a database that has gone back in time, and whose rows are numbered otherwise. */
    private volatile boolean stale;

    private boolean looking;

    /**
     * How it is read; both with a column {@code n}.
     *
     * @param inForce a query of what the rows come to, each with the {@code n} of the last of all rows
     * @param rows a query of the rows, without a condition
     */
    record Reading(String inForce, String rows) {}

    /**
     * @param begin is told what {@link Reading#inForce} gave: nothing else is known from then on
     * @param next is told a row
     */
    History(Pool pool, Reading reading, Consumer<List<Row>> begin, Consumer<Row> next) {
        this.pool = pool;
        this.reading = reading;
        this.begin = begin;
        this.next = next;
    }

    /** Reads what there is, and looks for new rows from now on, four times a second. Once a Vert.x instance. */
    Future<Void> start(Vertx vertx) {
        return reload().onSuccess(read -> vertx.setPeriodic(LOOK_MILLIS, tick -> look()));
    }

    /** Reads what there is: the database may have gone back in time. When that fails, the next look does it. */
    Future<Void> reload() {
        stale = true;
        return readAll().mapEmpty();
    }

    /** @return never a full page: what came meanwhile is read at the next look */
    private Future<Integer> readAll() {
        return pool.query(reading.inForce()).execute().map(this::beginAnew);
    }

    private synchronized int beginAnew(RowSet<Row> found) {
        List<Row> rows = StreamSupport.stream(found.spliterator(), false).toList();
        begin.accept(rows);
        seen = rows.isEmpty() ? 0 : rows.get(0).getLong("n");
        stale = false;
        return 0;
    }

    /** Knows, when it is done, what is committed already. Does not fail: what it could not read is told at a later look. */
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
        return pool.preparedQuery(reading.rows() + " where n > $1 order by n limit " + PAGE)
                .execute(Tuple.of(seen))
                .map(this::adopt);
    }

    /** Two may have read the same rows: none is told after a later one. */
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
