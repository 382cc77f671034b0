package dev.hongbao.http;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Commands in progress, whether or not their clients still wait: a stop must not close the stores during a send. Thread-safe. */
public final class CallsUnderWay {
    private static final long POLL_MILLIS = 10;

    private final AtomicInteger count = new AtomicInteger();

    /** Counts {@code work} until it has ended. */
    public <T> Future<T> track(Future<T> work) {
        count.incrementAndGet();
        return work.onComplete(ended -> count.decrementAndGet());
    }

    /** Whether none is in progress. */
    public boolean isEmpty() {
        return count.get() == 0;
    }

    /** Completes when none is in progress, or after {@code limit}; never fails. */
    public Future<Void> ended(Vertx vertx, Duration limit) {
        Promise<Void> ended = Promise.promise();
        poll(vertx, System.nanoTime() + limit.toNanos(), ended);
        return ended.future();
    }

    private void poll(Vertx vertx, long deadlineNanos, Promise<Void> ended) {
        if (isEmpty() || System.nanoTime() > deadlineNanos) {
            ended.complete();
        } else {
            vertx.setTimer(POLL_MILLIS, later -> poll(vertx, deadlineNanos, ended));
        }
    }
}
