package dev.hongbao.store.postgres;

import dev.hongbao.store.postgres.Rows.Pages;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes a table's expired rows, page after page, so that other statements wait only briefly. Every server sweeps; rows that one
 * has removed are gone for the others. Thread-safe.
 */
public final class Sweep {
    /** Rows that one statement removes: it takes some milliseconds. */
    public static final int PAGE = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(Sweep.class);

    private final Pool pool;
    private final String what;
    private final String statement;
    private final Object[] parameters;
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile long timer = -1;
    private volatile boolean stopped;

    /**
     * @param pool for statements that may take long
     * @param what the name of the rows, for the log
     * @param statement removes at most a page, and returns the number of removed rows; its last parameter is the size of a page
     * @param parameters the parameters before it
     */
    public Sweep(Pool pool, String what, String statement, Object... parameters) {
        this.pool = pool;
        this.what = what;
        this.statement = statement;
        this.parameters = Arrays.copyOf(parameters, parameters.length + 1);
        this.parameters[parameters.length] = PAGE;
    }

    /**
     * Sweeps a table by the age of its rows.
     *
     * @param function takes the age and the size of a page
     * @param keep older rows are removed
     */
    public static Sweep byAge(Pool pool, String what, String function, Duration keep) {
        return new Sweep(pool, what, "select " + function + "($1 * interval '1 second', $2)", keep.toSeconds());
    }

    /** Sweeps regularly from now on. Call it once. */
    public void start(Vertx vertx, Duration interval) {
        timer = vertx.setPeriodic(interval.toMillis(), tick -> {
            if (sweeping.compareAndSet(false, true)) {
                sweep().onComplete(done -> sweeping.set(false)).onFailure(this::failed);
            }
        });
    }

    private void failed(Throwable fault) {
        if (!stopped) {
            LOG.warn("{} could not be swept: {}", what, fault.toString());
        }
    }

    /** Ends the sweeps: the pool is about to be closed. */
    public void stop(Vertx vertx) {
        stopped = true;
        vertx.cancelTimer(timer);
    }

    /**
     * Sweeps now.
     *
     * @return the number of removed rows
     */
    public Future<Long> sweep() {
        return pages(() -> pool.preparedQuery(statement)
                .execute(Tuple.from(parameters))
                .map(rows -> rows.iterator().next().getLong(0)));
    }

    /**
     * Removes page after page, until one is not full.
     *
     * @param page returns the number of removed rows; {@link #PAGE} or more for a full page
     * @return the number of removed rows in all
     */
    public static Future<Long> pages(Supplier<Future<Long>> page) {
        AtomicLong gone = new AtomicLong();
        return Pages.repeat(() -> page.get().map(rows -> {
                    gone.addAndGet(rows);
                    return rows >= PAGE;
                }))
                .map(done -> gone.get());
    }
}
