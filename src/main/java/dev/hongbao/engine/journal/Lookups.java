package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Whom of those who wait long Postgres is asked for at once: of each shard the same number, those who came first. A shard that stands
 * still so keeps nobody of another one from being found. For one look, on one thread.
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
