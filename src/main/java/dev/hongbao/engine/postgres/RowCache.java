package dev.hongbao.engine.postgres;

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
public final class RowCache<K, V> {
    private final Cache<K, V> items;
    private final Function<V, K> key;
    private final Function<Collection<K>, Future<List<V>>> read;
    private final SharedQueries<K, @Nullable V> queries = new SharedQueries<>();

    /**
     * @param key the key of an item
     * @param read reads items; unknown ones are absent
     */
    public RowCache(Cache<K, V> items, Function<V, K> key, Function<Collection<K>, Future<List<V>>> read) {
        this.items = items;
        this.key = key;
        this.read = read;
    }

    /** A view of this cache that reads in another way. */
    public RowCache<K, V> over(Function<Collection<K>, Future<List<V>>> other) {
        return new RowCache<>(items, key, other);
    }

    /** The item, if it is cached; else null. */
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
        return read.apply(missing).map(rows -> {
            for (V row : rows) {
                items.put(key.apply(row), row);
                found.put(key.apply(row), row);
            }
            return found;
        });
    }

    /** Drops an item. */
    public void forget(K id) {
        items.invalidate(id);
    }

    /** Drops everything. For a Postgres that stepped back: cached items may never have been made. */
    public void forgetAll() {
        items.invalidateAll();
    }
}
