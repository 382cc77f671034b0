package dev.hongbao.feed;

import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.postgres.Sweep;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes old events from the feeds, page after page. After a long stop, or with a shorter retention, this takes minutes, and no call waits
 * for it. One trim at a time. Thread-safe.
 */
final class FeedTrimmer {
    private static final Logger LOG = LoggerFactory.getLogger(FeedTrimmer.class);

    /** The longest wait for the last page. A page takes some milliseconds; a blocked one ends with its connection. */
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

    private final FeedStore store;
    private final FeedStore trimming;
    private final Duration keep;
    private final int most;
    private final Duration interval;
    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile long begunNanos = System.nanoTime();
    private volatile Future<Void> last = Future.succeededFuture();
    private volatile boolean closed;

    private final AtomicReference<Horizon> horizon = new AtomicReference<>(Horizon.none());

    /** A transaction id. Groups unchanged since it need a trim by age only. */
    private record Horizon(String xid) {
        static Horizon none() {
            return new Horizon("0");
        }
    }

    /**
     * @param trimming over connections whose statements may take minutes
     * @param keep how long an event is kept
     * @param most events kept per group
     * @param interval between two trims
     */
    FeedTrimmer(FeedStore store, FeedStore trimming, Duration keep, int most, Duration interval) {
        this.store = store;
        this.trimming = trimming;
        this.keep = keep;
        this.most = most;
        this.interval = interval;
    }

    /** Begins a trim, unless one is under way or the last one began a moment ago. */
    void trimIfDue() {
        if (closed || System.nanoTime() - begunNanos < interval.toNanos() || !busy.compareAndSet(false, true)) {
            return;
        }
        begunNanos = System.nanoTime();
        last = trim().onFailure(this::failed).onComplete(done -> busy.set(false));
    }

    private Future<Void> trim() {
        Horizon since = Objects.requireNonNull(horizon.get());
        return store.changed(null)
                .compose(now -> Pages.repeat(() ->
                                trimming.trimPage(keep, most, since.xid).map(gone -> gone >= Sweep.PAGE && !closed))
                        // Unless the horizon was dropped meanwhile.
                        .onSuccess(trimmed -> horizon.compareAndSet(since, new Horizon(now.horizon()))));
    }

    private void failed(Throwable fault) {
        if (!closed) {
            LOG.warn("the feeds could not be trimmed, it is tried again: {}", fault.toString());
        }
    }

    /** Drops the horizon. For a Postgres that stepped back: transaction ids may start at a lower one. */
    void forget() {
        horizon.set(Horizon.none());
    }

    /** Begins no further page. Completes after the current page, or after a second. Call it before the connections are closed. */
    Future<Void> close() {
        closed = true;
        return last.timeout(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS).otherwiseEmpty();
    }
}
