package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Selects long-waiting items for one query to Postgres: the oldest ones, an equal number from each shard. So a shard that stands
 * still does not delay another one. For one query; confined to one thread.
 */
final class Lookups<K> {
    private static final int MOST = 512;

    private final Map<Integer, Map<K, Generation>> byShard = new LinkedHashMap<>();

    /** Call it in the order of arrival. */
    void add(K key, Generation generation) {
        Map<K, Generation> ofShard = byShard.computeIfAbsent(generation.shard(), shard -> new LinkedHashMap<>());
        if (ofShard.size() < MOST) {
            ofShard.put(key, generation);
        }
    }

    /** At most {@link #MOST} keys, each with the generation that accepted it; empty if none was added. */
    Map<K, Generation> chosen() {
        Map<K, Generation> chosen = new LinkedHashMap<>();
        byShard.values()
                .forEach(ofShard -> ofShard.entrySet().stream()
                        .limit(Math.max(1, MOST / byShard.size()))
                        .forEach(each -> chosen.put(each.getKey(), each.getValue())));
        return chosen;
    }
}
