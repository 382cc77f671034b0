package dev.hongbao.engine;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;

/** A gauge that adds up a count of each event loop when it is read, so counting costs nothing. Thread-safe. */
public final class LoopSum {
    private final List<IntSupplier> loops = new CopyOnWriteArrayList<>();

    public LoopSum(MeterRegistry registry, String name, String description) {
        Gauge.builder(
                        name,
                        loops,
                        all -> all.stream().mapToInt(IntSupplier::getAsInt).sum())
                .description(description)
                .register(registry);
    }

    /**
     * Adds an event loop.
     *
     * @param count read on any thread; an approximate value is good enough
     */
    public void watch(IntSupplier count) {
        loops.add(count);
    }
}
