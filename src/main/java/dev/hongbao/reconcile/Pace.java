package dev.hongbao.reconcile;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/** The pace of one run: each piece is followed by a rest, and a slow piece makes the next ones smaller. On one event loop. */
final class Pace {
    private static final long LONG_MILLIS = 100;

    /** Short pieces in a row before the next ones grow. A page has several short pieces beside its slow one. */
    private static final int CALM = 12;

    /** The most halvings of a piece. Below an eighth the cost hardly falls, since an index leads to ranges of rows. */
    private static final int MAX_HALVINGS = 3;

    private final Vertx vertx;
    private final LongUnaryOperator restMillis;
    /** Starts with the smallest piece, since the first one on a new connection is the slowest. */
    private int halvings = MAX_HALVINGS;

    private int calm;

    /** @param restMillis gives the rest after a piece, from its duration in milliseconds; 0 for none */
    Pace(Vertx vertx, LongUnaryOperator restMillis) {
        this.vertx = vertx;
        this.restMillis = restMillis;
    }

    /**
     * The size of the next piece.
     *
     * @param most the full size
     */
    int size(int most) {
        return Math.max(1, most >> halvings);
    }

    /** Runs a piece, and rests. */
    <T> Future<T> piece(Supplier<Future<T>> work) {
        long begun = System.nanoTime();
        return work.get().compose(done -> {
            long millis = (System.nanoTime() - begun) / 1_000_000;
            calm = millis < LONG_MILLIS / 4 ? calm + 1 : 0;
            if (millis > LONG_MILLIS) {
                halvings = Math.min(halvings + 1, MAX_HALVINGS);
            } else if (calm >= CALM) {
                halvings = Math.max(halvings - 1, 0);
                calm = 0;
            }
            long rest = restMillis.applyAsLong(millis);
            return rest <= 0 ? Future.succeededFuture(done) : rest(vertx, rest).map(done);
        });
    }

    /** Succeeds after so many milliseconds; never, if Vert.x closes before: then no event loop is left for what follows. */
    static Future<Void> rest(Vertx vertx, long millis) {
        Promise<Void> rested = Promise.promise();
        vertx.setTimer(millis, over -> rested.complete());
        return rested.future();
    }
}
