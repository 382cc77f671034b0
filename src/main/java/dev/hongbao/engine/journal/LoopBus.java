package dev.hongbao.engine.journal;

import io.vertx.core.Context;
import io.vertx.core.eventbus.EventBus;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Experiment. */
public final class LoopBus {
    private static final Map<EventBus, LoopBus> ALL = new ConcurrentHashMap<>();
    private final Map<String, List<Hearer>> hearers = new ConcurrentHashMap<>();

    private record Hearer(
            @org.jspecify.annotations.Nullable Context loop, BooleanSupplier wants, Consumer<Object> hears) {}

    public static LoopBus of(EventBus bus) {
        return ALL.computeIfAbsent(bus, b -> new LoopBus());
    }

    @SuppressWarnings("unchecked")
    public <T> void hear(
            String address, @org.jspecify.annotations.Nullable Context loop, BooleanSupplier wants, Consumer<T> hears) {
        hearers.computeIfAbsent(address, a -> new CopyOnWriteArrayList<>())
                .add(new Hearer(loop, wants, (Consumer<Object>) (Consumer<?>) hears));
    }

    public void tell(String address, Object fact) {
        for (Hearer h : hearers.getOrDefault(address, List.of())) {
            if (h.wants.getAsBoolean()) {
                if (h.loop == null) {
                    h.hears.accept(fact);
                } else {
                    h.loop.runOnContext(now -> h.hears.accept(fact));
                }
            }
        }
    }
}
