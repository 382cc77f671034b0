package dev.hongbao.common.vertx;

import io.vertx.core.Context;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Who on this server listens to one kind of news, each on an event loop of its own, and only while it wants to. The event bus would wake
 * every loop for every piece of news; while claims are settled one by one, to wake a loop costs more than what most have to do then.
 * Safe on any thread.
 *
 * @param <T> a piece of news, immutable
 */
public final class LoopListeners<T> {
    private final List<Consumer<T>> all = new CopyOnWriteArrayList<>();

    /**
     * From now on it is told on its event loop, in the order in which one thread tells.
     *
     * @param wants asked on the thread that tells: for what it says no to, nobody listens later
     */
    public void add(Context loop, BooleanSupplier wants, Consumer<T> listener) {
        all.add(news -> {
            if (wants.getAsBoolean()) {
                loop.runOnContext(now -> listener.accept(news));
            }
        });
    }

    /** From now on it is told all, on the thread that tells. @param listener short, safe on any thread, never throws */
    public void add(Consumer<T> listener) {
        all.add(listener);
    }

    /** Tells all that want to hear it. */
    public void tell(T news) {
        all.forEach(each -> each.accept(news));
    }
}
