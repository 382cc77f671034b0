package dev.hongbao.engine.watch;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;

/** A gauge of what each event loop counts for itself: it is added up when it is asked for, so counting costs nothing. Thread-safe. */
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

    /** One more event loop. @param count read on any thread: about right is good enough */
    public void watch(IntSupplier count) {
        loops.add(count);
    }
}
