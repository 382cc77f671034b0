package dev.hongbao.postgres;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.util.function.Function;

/** Transactions that are run again when Postgres asks for it. */
public final class Transactions {
    private static final int TRIES = 5;

    private Transactions() {}

    /**
     * Runs {@code work} in a transaction: committed when its future succeeds, rolled back when it fails. A deadlock or
     * serialization failure runs it again, at most five times, so {@code work} must have no effect outside the transaction.
     */
    public static <T> Future<T> run(Pool pool, Function<SqlConnection, Future<T>> work) {
        return run(pool, work, TRIES);
    }

    private static <T> Future<T> run(Pool pool, Function<SqlConnection, Future<T>> work, int tries) {
        return pool.withTransaction(work)
                .recover(fault -> tries > 1 && SqlState.isRetryable(fault)
                        ? run(pool, work, tries - 1)
                        : Future.failedFuture(fault));
    }
}
