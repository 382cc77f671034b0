package dev.hongbao.domain.play;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.postgres.Transactions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the costs of requests, many in one statement: while one is in flight, later requests wait for the next. A statement takes one
 * request of a user, so that a wallet's balance is judged request by request. One instance per event loop, used on it only.
 */
final class HoldBatcher {
    private static final Logger LOG = LoggerFactory.getLogger(HoldBatcher.class);

    private static final int MAX_BATCH = 256;

    private final Pool pool;
    private final PlaySettings settings;
    private final PlayMetrics metrics;
    private final Deque<Pending> queue = new ArrayDeque<>();
    private boolean busy;

    HoldBatcher(Pool pool, PlaySettings settings, PlayMetrics metrics) {
        this.pool = pool;
        this.settings = settings;
        this.metrics = metrics;
    }

    /** What the database said of a request; see {@code hold_plays}. */
    enum Status {
        HELD,
        SETTLED,
        REUSED,
        POOR,
        CLOSED
    }

    /**
     * The answer.
     *
     * @param attempt for the script, when HELD
     */
    record Hold(Status status, UUID attempt) {}

    private record Pending(PlayRequest request, Promise<Hold> promise) {}

    /** @return fails with {@link UnavailableException} when the queue is full, or the database did not answer: then maybe held */
    Future<Hold> submit(PlayRequest request) {
        if (queue.size() >= settings.maxQueued()) {
            return Future.failedFuture(
                    UnavailableException.overloaded("Too many plays are waiting. Try again shortly."));
        }
        Pending pending = new Pending(request, Promise.promise());
        queue.add(pending);
        flush();
        return pending.promise.future();
    }

    int waiting() {
        return queue.size();
    }

    private void flush() {
        if (busy || queue.isEmpty()) {
            return;
        }
        busy = true;
        List<Pending> batch = new ArrayList<>();
        Set<UserId> users = new HashSet<>();
        for (Iterator<Pending> all = queue.iterator(); all.hasNext() && batch.size() < MAX_BATCH; ) {
            Pending next = all.next();
            if (users.add(next.request.user())) {
                batch.add(next);
                all.remove();
            }
        }
        metrics.holds(batch.size());
        Transactions.statement(() -> hold(batch)).onComplete(done -> {
            busy = false;
            if (done.succeeded()) {
                answer(batch, done.result());
            } else {
                LOG.warn(
                        "{} requests were not held: {}",
                        batch.size(),
                        done.cause().toString());
                batch.forEach(pending -> pending.promise.fail(UnavailableException.unknown(
                        "The database does not answer. Repeat the same request: it is not counted twice.")));
            }
            flush();
        });
    }

    private Future<RowSet<Row>> hold(List<Pending> batch) {
        int size = batch.size();
        UUID[] ids = new UUID[size];
        UUID[] draws = new UUID[size];
        String[] users = new String[size];
        Short[] plays = new Short[size];
        UUID[] attempts = new UUID[size];
        for (int i = 0; i < size; i++) {
            PlayRequest request = batch.get(i).request;
            ids[i] = request.id();
            draws[i] = request.draw().value();
            users[i] = request.user().value();
            plays[i] = (short) request.plays();
            attempts[i] = UUID.randomUUID();
        }
        return pool.preparedQuery("select status, attempt from hold_plays($1, $2, $3, $4, $5)")
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids)
                        .addArrayOfUUID(draws)
                        .addArrayOfString(users)
                        .addArrayOfShort(plays)
                        .addArrayOfUUID(attempts));
    }

    private static void answer(List<Pending> batch, RowSet<Row> rows) {
        int next = 0;
        for (Row row : rows) {
            if (row.getString("status").equals("unknown")) {
                batch.get(next++).promise.fail(UnavailableException.unknown("The draw is not known to the database."));
                continue;
            }
            Status status = switch (row.getString("status")) {
                case "held" -> Status.HELD;
                case "settled" -> Status.SETTLED;
                case "reused" -> Status.REUSED;
                case "poor" -> Status.POOR;
                default -> Status.CLOSED;
            };
            batch.get(next++).promise.complete(new Hold(status, row.getUUID("attempt")));
        }
    }
}
