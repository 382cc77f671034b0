package dev.hongbao.http;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The current count per key; a key with count 0 uses no memory. Thread-safe. */
public final class Counts<K> {
    private final ConcurrentMap<K, Integer> counts = new ConcurrentHashMap<>();

    /**
     * Counts one more.
     *
     * @return false, and nothing is counted, when there are {@code most} already
     */
    public boolean enter(K key, int most) {
        while (true) {
            Integer before = counts.get(key);
            if ((before == null ? 0 : before) >= most) {
                return false;
            }
            boolean entered =
                    before == null ? counts.putIfAbsent(key, 1) == null : counts.replace(key, before, before + 1);
            if (entered) {
                return true;
            }
        }
    }

    /** Subtracts one that was counted. */
    public void leave(K key) {
        counts.computeIfPresent(key, (same, count) -> count == 1 ? null : Integer.valueOf(count - 1));
    }
}
