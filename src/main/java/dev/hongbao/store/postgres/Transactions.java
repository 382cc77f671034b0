package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.util.function.Function;
import java.util.function.Supplier;

/** Transactions that run again if Postgres asks for it. */
public final class Transactions {
    private static final int TRIES = 5;

    private Transactions() {}

    /**
     * Runs {@code work} in a transaction: committed if its future succeeds, rolled back if it fails. A deadlock or serialization
     * failure runs it again, at most five times in all, so {@code work} must have no effect outside the transaction.
     */
    public static <T> Future<T> run(Pool pool, Function<SqlConnection, Future<T>> work) {
        return retry(() -> pool.withTransaction(work), TRIES);
    }

    /** Sends a statement that is a transaction by itself, in one round trip. It is repeated like {@link #run}. */
    public static <T> Future<T> statement(Supplier<Future<T>> statement) {
        return retry(statement, TRIES);
    }

    private static <T> Future<T> retry(Supplier<Future<T>> work, int tries) {
        return work.get()
                .recover(fault ->
                        tries > 1 && SqlState.isRetryable(fault) ? retry(work, tries - 1) : Future.failedFuture(fault));
    }
}
