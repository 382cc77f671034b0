package dev.hongbao.common.vertx;

import io.vertx.core.Context;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who on this server listens to one kind of settlement, on an event loop of his own and only while he wants to, or on that of who tells. The event bus would wake
 * every loop for every settlement; while claims are settled one by one, to wake a loop costs more than what most have to do then.
 * Thread-safe.
 *
 * @param <T> one settlement's facts, immutable
 */
public final class LoopListeners<T> {
    private static final Logger LOG = LoggerFactory.getLogger(LoopListeners.class);

    private final List<Consumer<T>> all = new CopyOnWriteArrayList<>();

    /**
     * From now on it is told on its event loop, in the order in which one thread tells.
     *
     * @param wants asked on the thread that tells: for what it says no to, nobody listens later
     */
    public void add(Context loop, BooleanSupplier wants, Consumer<T> listener) {
        all.add(settlements -> {
            if (wants.getAsBoolean()) {
                loop.runOnContext(now -> listener.accept(settlements));
            }
        });
    }

    /** From now on it is told all, on the thread that tells. @param listener short, safe on any thread */
    public void add(Consumer<T> listener) {
        all.add(listener);
    }

    /** Tells all that want to hear it. Never throws: what a listener does with it is no business of who tells. */
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
