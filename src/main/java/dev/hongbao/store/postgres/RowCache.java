package dev.hongbao.store.postgres;

import com.github.benmanes.caffeine.cache.Cache;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A bounded cache of items that do not change, over Postgres. Callers that need one item at the same time share a query. Thread-safe. */
public abstract class RowCache<K, V> {
    private final Cache<K, V> items;
    private final Function<V, K> key;
    private final SharedQueries<K, @Nullable V> queries = new SharedQueries<>();

    /** @param key the key of an item */
    protected RowCache(Cache<K, V> items, Function<V, K> key) {
        this.items = items;
        this.key = key;
    }

    /** Reads items. Unknown items are absent. */
    protected abstract Future<List<V>> read(Collection<K> ids);

    /** The item; null when it is not cached. */
    public @Nullable V cached(K id) {
        return items.getIfPresent(id);
    }

    /** The item. Null for an unknown one, which is not cached. */
    public Future<@Nullable V> find(K id) {
        V known = items.getIfPresent(id);
        return known != null
                ? Future.succeededFuture(known)
                : queries.ask(id, () -> findAll(List.of(id)).map(found -> found.get(id)));
    }

    /** Many items. Unknown items are absent. */
    public Future<Map<K, V>> findAll(Collection<K> ids) {
        Map<K, V> found = new HashMap<>();
        List<K> missing = new ArrayList<>();
        for (K id : ids) {
            V known = items.getIfPresent(id);
            if (known == null) {
                missing.add(id);
            } else {
                found.put(id, known);
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return read(missing).map(rows -> {
            for (V row : rows) {
                items.put(key.apply(row), row);
                found.put(key.apply(row), row);
            }
            return found;
        });
    }

    public void forget(K id) {
        items.invalidate(id);
    }

    /** Drops everything. For a Postgres that stepped back: cached items may never have been made. */
    public void forgetAll() {
        items.invalidateAll();
    }
}
