package dev.hongbao.domain.reconcile;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/** The pieces of one run: each is followed by a rest, and one that takes long makes the next ones smaller. On one event loop. */
final class Pace {
    private static final long LONG_MILLIS = 100;

    /** So many short pieces in a row make the next ones larger: a page has small pieces, too, beside the one that takes long. */
    private static final int CALM = 12;

    /** A piece becomes this many times smaller by half: an eighth costs little less than it, since an index leads to ranges of rows. */
    private static final int MAX_HALVINGS = 3;

    private final Vertx vertx;
    private final LongUnaryOperator restMillis;
    /** The first piece on a new connection takes longest. */
    private int halvings = MAX_HALVINGS;

    private int calm;

    /** @param restMillis how long to rest after a piece that took so many milliseconds; 0 for not at all */
    Pace(Vertx vertx, LongUnaryOperator restMillis) {
        this.vertx = vertx;
        this.restMillis = restMillis;
    }

    /** As large as the next piece should be. @param most as it may be */
    int size(int most) {
        return Math.max(1, most >> halvings);
    }

    /** Does a piece, and rests. */
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
            return rest <= 0 ? Future.succeededFuture(done) : vertx.timer(rest).map(done);
        });
    }
}
