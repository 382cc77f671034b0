package dev.hongbao.tools.bench.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * A station that serves one batch at a time: what comes meanwhile gathers, and all of it, up to a limit, is the next batch. So the batches
 * grow with the load. For one thread.
 */
final class Gathering<T> {
    private final int limit;
    private final BiConsumer<List<T>, Runnable> service;
    private final Deque<T> waiting = new ArrayDeque<>();
    private boolean busy;
    private long batches;
    private long items;

    /** @param service serves a batch, and runs what it was given when it is done */
    Gathering(int limit, BiConsumer<List<T>, Runnable> service) {
        this.limit = limit;
        this.service = service;
    }

    void add(T item) {
        waiting.add(item);
        if (!busy) {
            next();
        }
    }

    private void next() {
        busy = !waiting.isEmpty();
        if (busy) {
            List<T> batch = new ArrayList<>();
            while (batch.size() < limit && !waiting.isEmpty()) {
                batch.add(waiting.remove());
            }
            batches++;
            items += batch.size();
            service.accept(batch, this::next);
        }
    }

    /** NaN before the first one. */
    double meanBatch() {
        return (double) items / batches;
    }
}
