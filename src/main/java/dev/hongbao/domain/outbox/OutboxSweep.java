package dev.hongbao.domain.outbox;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes old rows, in pieces; every server does, one after the other. Safe on any thread. */
public final class OutboxSweep {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxSweep.class);

    private static final int PAGE = 1_000;

    private final Pool pool;
    private final Duration keep;
    private final int most;
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile long timer = -1;
    private volatile boolean stopped;

    /**
     * @param pool for statements that may take long
     * @param keep rows older than this go
     * @param most rows; beyond, the oldest go
     */
    public OutboxSweep(Pool pool, Duration keep, int most) {
        this.pool = pool;
        this.keep = keep;
        this.most = most;
    }

    /** Sweeps regularly from now on; once. */
    public void start(Vertx vertx, Duration interval) {
        timer = vertx.setPeriodic(interval.toMillis(), tick -> {
            if (sweeping.compareAndSet(false, true)) {
                sweep().onComplete(done -> sweeping.set(false)).onFailure(this::failed);
            }
        });
    }

    private void failed(Throwable fault) {
        if (!stopped) {
            LOG.warn("the outbox could not be swept: {}", fault.toString());
        }
    }

    /** Sweeps no more: the pool is about to be closed. */
    public void stop(Vertx vertx) {
        stopped = true;
        vertx.cancelTimer(timer);
    }

    /** Sweeps now. @return how many rows are gone */
    public Future<Long> sweep() {
        return pool.preparedQuery("select outbox_sweep($1 * interval '1 second', $2, $3)")
                .execute(Tuple.of(keep.toSeconds(), most, PAGE))
                .map(rows -> rows.iterator().next().getLong(0))
                .compose(gone -> gone < PAGE ? Future.succeededFuture(gone) : sweep().map(more -> gone + more));
    }
}
