package dev.hongbao.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners to one kind of settlement on this server. Each listens on its own event loop, and only while it wants to, or on
 * the sender's thread. The event bus would wake every loop for every settlement. While claims settle one by one, a wake-up costs
 * more than the work of most loops. Thread-safe.
 *
 * @param <T> one settlement's facts, immutable
 */
public final class LoopListeners<T> {
    private static final Logger LOG = LoggerFactory.getLogger(LoopListeners.class);

    private final List<Consumer<T>> all = new CopyOnWriteArrayList<>();

    /**
     * Adds a listener that runs on its event loop. It gets the settlements of one sending thread in their order.
     *
     * @param wants asked on the sending thread; the listener never gets a settlement for which it returned false
     */
    public void add(Executor loop, BooleanSupplier wants, Consumer<T> listener) {
        all.add(settlements -> {
            if (wants.getAsBoolean()) {
                loop.execute(() -> listener.accept(settlements));
            }
        });
    }

    /**
     * Adds a listener that runs on the sending thread.
     *
     * @param listener short, safe on any thread
     */
    public void add(Consumer<T> listener) {
        all.add(listener);
    }

    /** Sends a settlement to the listeners. Never throws: a listener's fault is logged and does not reach the sender. */
    public void tell(T settlements) {
        for (Consumer<T> each : all) {
            try {
                each.accept(settlements);
            } catch (RuntimeException fault) {
                LOG.error("a listener failed", fault);
            }
        }
    }
}
