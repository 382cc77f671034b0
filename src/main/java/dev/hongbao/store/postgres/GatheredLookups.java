package dev.hongbao.store.postgres;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks up values by key in few queries. During a query later keys gather for the next one: the first claims on ten thousand
 * packets must not become ten thousand queries. A key that several callers ask for is looked up once; each caller is answered on
 * its event loop. Thread-safe.
 *
 * @param <K> a key
 * @param <V> its value
 */
public final class GatheredLookups<K, V> {
    private static final int MAX_RUNNING = 2;
    private static final int BATCH = 256;

    private final Function<List<K>, Future<Map<K, V>>> query;
    private final Map<K, CompletableFuture<@Nullable V>> asked = new HashMap<>();
    private final Set<K> waiting = new LinkedHashSet<>();
    private int running;

    /** @param query finds the values of 1 to 256 keys; unknown keys are absent */
    public GatheredLookups(Function<List<K>, Future<Map<K, V>>> query) {
        this.query = query;
    }

    /** Returns the value of a key; null if there is none, which is not cached. Fails as its query does. */
    public Future<@Nullable V> find(K key) {
        CompletableFuture<@Nullable V> answer;
        synchronized (this) {
            answer = asked.computeIfAbsent(key, fresh -> {
                waiting.add(fresh);
                return new CompletableFuture<>();
            });
        }
        flush();
        Context caller = Vertx.currentContext();
        return caller == null ? Future.fromCompletionStage(answer) : Future.fromCompletionStage(answer, caller);
    }

    /** Keys whose answers are pending. */
    public synchronized int size() {
        return asked.size();
    }

    private void flush() {
        List<K> batch = next();
        if (!batch.isEmpty()) {
            // Composed: a query that throws must not leave its keys behind, or later callers would wait for ever.
            Future.succeededFuture(batch).compose(query).onComplete(done -> {
                Map<K, V> found = done.succeeded() ? done.result() : Map.of();
                answered(batch).forEach((key, answer) -> {
                    if (done.succeeded()) {
                        answer.complete(found.get(key));
                    } else {
                        answer.completeExceptionally(done.cause());
                    }
                });
                flush();
            });
        }
    }

    private synchronized List<K> next() {
        List<K> batch = new ArrayList<>();
        if (running < MAX_RUNNING) {
            for (K key : waiting) {
                if (batch.size() == BATCH) {
                    break;
                }
                batch.add(key);
            }
            batch.forEach(waiting::remove);
            running += batch.isEmpty() ? 0 : 1;
        }
        return batch;
    }

    private synchronized Map<K, CompletableFuture<@Nullable V>> answered(List<K> batch) {
        running--;
        Map<K, CompletableFuture<@Nullable V>> answers = new HashMap<>();
        for (K key : batch) {
            CompletableFuture<@Nullable V> answer = asked.remove(key);
            if (answer != null) {
                answers.put(key, answer);
            }
        }
        return answers;
    }
}
