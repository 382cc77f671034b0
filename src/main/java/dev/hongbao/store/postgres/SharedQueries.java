package dev.hongbao.store.postgres;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * Runs one query for all callers that ask for one key at the same time, on any event loop. Each caller is answered on its own.
 * Thread-safe.
 *
 * @param <K> identifies a query
 */
public final class SharedQueries<K, V> {
    private final ConcurrentMap<K, CompletableFuture<V>> running = new ConcurrentHashMap<>();

    /** The answer of the running query for {@code key}; if none runs, of {@code query}. */
    public Future<V> ask(K key, Supplier<Future<V>> query) {
        CompletableFuture<V> mine = new CompletableFuture<>();
        CompletableFuture<V> theirs = running.putIfAbsent(key, mine);
        if (theirs == null) {
            // Composed: a query that throws must not leave its key behind, or later callers would wait for ever.
            Future.succeededFuture().compose(begin -> query.get()).onComplete(done -> {
                running.remove(key, mine);
                if (done.succeeded()) {
                    mine.complete(done.result());
                } else {
                    mine.completeExceptionally(done.cause());
                }
            });
        }
        CompletableFuture<V> answer = theirs == null ? mine : theirs;
        Context caller = Vertx.currentContext();
        return caller == null ? Future.fromCompletionStage(answer) : Future.fromCompletionStage(answer, caller);
    }
}
