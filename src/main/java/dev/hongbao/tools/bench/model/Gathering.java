package dev.hongbao.tools.bench.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * A station that serves one batch at a time: what comes meanwhile gathers, and all of it, up to a limit, is the next batch. So the batches
 * grow with the load. It may have parts: once much waits for one of them, each is served by itself, side by side. Confined to one thread.
 */
final class Gathering<T> {
    private final int limit;
    private final int much;
    private final BiConsumer<List<T>, Runnable> service;
    private final List<Part<T>> parts;
    private long batches;
    private long items;

    private static final class Part<T> {
        final Deque<T> waiting = new ArrayDeque<>();
        boolean isBusy;
    }

    /** Of one part. @param service serves a batch, and runs what it was given when it is done */
    Gathering(int limit, BiConsumer<List<T>, Runnable> service) {
        this(limit, 1, Integer.MAX_VALUE, service);
    }

    /** @param much as much waits for a part when each is served by itself */
    Gathering(int limit, int parts, int much, BiConsumer<List<T>, Runnable> service) {
        this.limit = limit;
        this.much = much;
        this.service = service;
        this.parts = IntStream.range(0, parts).mapToObj(i -> new Part<T>()).toList();
    }

    /** @param part of the station, from 0 */
    void add(int part, T item) {
        parts.get(part).waiting.add(item);
        next();
    }

    private void next() {
        if (parts.stream().anyMatch(part -> part.waiting.size() >= much)) {
            parts.stream().filter(part -> !part.isBusy).forEach(part -> serve(List.of(part)));
        } else if (parts.stream().noneMatch(part -> part.isBusy)) {
            serve(parts);
        }
    }

    private void serve(List<Part<T>> together) {
        List<T> batch = new ArrayList<>();
        for (Part<T> part : together) {
            while (batch.size() < limit && !part.waiting.isEmpty()) {
                batch.add(part.waiting.remove());
            }
        }
        if (!batch.isEmpty()) {
            batches++;
            items += batch.size();
            together.forEach(part -> part.isBusy = true);
            service.accept(batch, () -> {
                together.forEach(part -> part.isBusy = false);
                next();
            });
        }
    }

    /** NaN before the first one. */
    double meanBatch() {
        return (double) items / batches;
    }
}
