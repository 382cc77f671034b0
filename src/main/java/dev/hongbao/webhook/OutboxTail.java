package dev.hongbao.webhook;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;

/** Follows the outbox of a database. Confined to its event loop. */
public final class OutboxTail {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final Set<String> ALL = Set.copyOf(OutboxEvent.TYPES);

    private final Vertx vertx;
    private final OutboxReader reader;
    private final Consumer<OutboxEvent> out;
    private final Promise<Void> end = Promise.promise();
    private long left;

    private OutboxTail(Vertx vertx, OutboxReader reader, Consumer<OutboxEvent> out, long most) {
        this.vertx = vertx;
        this.reader = reader;
        this.out = out;
        this.left = most;
    }

    /**
     * Reads events until {@code most} of them, on the current event loop.
     *
     * @param pool of two connections or more
     * @param all from the oldest kept event; else from now
     */
    public static Future<Void> follow(Vertx vertx, Pool pool, boolean all, long most, Consumer<OutboxEvent> out) {
        return pool.query("select count(*) from shard")
                .execute()
                .map(rows -> new OutboxReader(
                        pool, new OutboxHead(pool, rows.iterator().next().getInteger(0))))
                .compose(reader -> (all ? reader.oldest() : reader.latest()).compose(cursor -> {
                    OutboxTail tail = new OutboxTail(vertx, reader, out, most);
                    tail.follow(cursor);
                    return tail.end.future();
                }));
    }

    private void follow(OutboxCursor after) {
        int most = (int) Math.min(left, OutboxReader.MAX_EVENTS);
        OutboxPoll.begin(vertx, reader, after, ALL, most, WAIT)
                .page()
                .onFailure(end::fail)
                .onSuccess(page -> {
                    page.events().forEach(out);
                    left -= page.events().size();
                    if (left == 0) {
                        end.complete();
                    } else {
                        follow(page.next());
                    }
                });
    }
}
