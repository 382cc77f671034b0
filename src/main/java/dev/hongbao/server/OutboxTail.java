package dev.hongbao.server;

import dev.hongbao.config.ConfigException;
import dev.hongbao.store.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.webhook.OutboxCursor;
import dev.hongbao.webhook.OutboxEvent;
import dev.hongbao.webhook.OutboxHead;
import dev.hongbao.webhook.OutboxPoll;
import dev.hongbao.webhook.OutboxReader;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;

/** Follows the outbox of a database on connections of its own. Blocking. */
public final class OutboxTail {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final int QUEUE = 16;
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
     * Reads events until {@code most} of them.
     *
     * @param all from the oldest kept event; else from now
     * @throws ConfigException if no server has worked on the database
     * @throws Exception if Postgres does not answer
     */
    public static void run(StoreAddresses stores, boolean all, long most, Consumer<OutboxEvent> out) throws Exception {
        Reconciler.<Void>alone(vertx -> {
            Pool pool = new Postgres(vertx, stores.app()).pool("tail", 2, QUEUE, Postgres.SHORT);
            return Reconciler.installation(pool, stores)
                    .compose(there -> pool.query("select count(*) from shard").execute())
                    .map(rows -> new OutboxReader(
                            pool, new OutboxHead(pool, rows.iterator().next().getInteger(0))))
                    .compose(reader -> (all ? reader.oldest() : reader.latest()).compose(cursor -> {
                        OutboxTail tail = new OutboxTail(vertx, reader, out, most);
                        tail.follow(cursor);
                        return tail.end.future();
                    }));
        });
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
