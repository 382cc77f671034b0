package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Chooses whom of those who wait long Postgres is asked for at once: the oldest, the same number from each shard. So a shard that stands
 * still delays nobody of another one. For one look; confined to one thread.
 */
final class Lookups<K> {
    private static final int MOST = 512;

    private final Map<Integer, Map<K, Generation>> byShard = new LinkedHashMap<>();

    /** In the order of arrival. */
    void add(K key, Generation generation) {
        Map<K, Generation> ofShard = byShard.computeIfAbsent(generation.shard(), shard -> new LinkedHashMap<>());
        if (ofShard.size() < MOST) {
            ofShard.put(key, generation);
        }
    }

    /** At most {@link #MOST}; with each the generation that accepted it. Empty when nobody was added. */
    Map<K, Generation> chosen() {
        Map<K, Generation> chosen = new LinkedHashMap<>();
        byShard.values()
                .forEach(ofShard -> ofShard.entrySet().stream()
                        .limit(Math.max(1, MOST / byShard.size()))
                        .forEach(each -> chosen.put(each.getKey(), each.getValue())));
        return chosen;
    }
}
