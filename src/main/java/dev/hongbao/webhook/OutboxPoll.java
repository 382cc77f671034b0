package dev.hongbao.webhook;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** One reader that waits for events. Confined to the event loop that began it. */
final class OutboxPoll {
    private static final long LOOK_MILLIS = 100;

    private final Vertx vertx;
    private final OutboxReader reader;
    private final Set<String> types;
    private final int most;
    private final Promise<OutboxPage> page = Promise.promise();
    private OutboxCursor after;
    private long timer;
    private boolean done;

    private OutboxPoll(Vertx vertx, OutboxReader reader, OutboxCursor after, Set<String> types, int most) {
        this.vertx = vertx;
        this.reader = reader;
        this.after = after;
        this.types = types;
        this.most = most;
    }

    /**
     * Reads on from a cursor, and waits when there are no events.
     *
     * @param most events
     * @param wait more than 0
     */
    public static OutboxPoll begin(
            Vertx vertx, OutboxReader reader, OutboxCursor after, Set<String> types, int most, Duration wait) {
        OutboxPoll poll = new OutboxPoll(vertx, reader, after, types, most);
        poll.timer = vertx.setTimer(wait.toMillis(), late -> poll.stopWaiting());
        poll.read();
        return poll;
    }

    /** The answer, without events when none came in time. Never completes after {@link #cancel}. */
    public Future<OutboxPage> page() {
        return page.future();
    }

    /** Answers now, without events. */
    public void stopWaiting() {
        answer(Future.succeededFuture(new OutboxPage(List.of(), after, null)));
    }

    /** Ends the poll without an answer. Idempotent. */
    public void cancel() {
        done = true;
        vertx.cancelTimer(timer);
    }

    private void look() {
        if (done) {
            return;
        }
        reader.hasEvents(after).onComplete(looked -> {
            if (looked.failed()) {
                answer(Future.failedFuture(looked.cause()));
            } else if (looked.result()) {
                read();
            } else {
                lookLater();
            }
        });
    }

    private void lookLater() {
        if (!done) {
            vertx.setTimer(LOOK_MILLIS, later -> look());
        }
    }

    private void read() {
        Future<OutboxPage> reading = reader.read(after, types, most);
        reading.onComplete(read -> {
            if (read.failed()
                    || !read.result().events().isEmpty()
                    || read.result().gap() != null) {
                answer(reading);
            } else {
                after = read.result().next();
                lookLater();
            }
        });
    }

    private void answer(Future<OutboxPage> result) {
        if (!done) {
            cancel();
            result.onComplete(page);
        }
    }
}
