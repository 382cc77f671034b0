package dev.hongbao.engine.journal;

import dev.hongbao.common.vertx.LoopListeners;

/**
 * Where settled facts of one kind are told on a server. Best effort: who waits for one looks in Postgres too.
 *
 * @param <T> the facts of one settlement
 * @param here what this server settled, for all: once, after the commit
 * @param toWaiters what another server settled, for who waits for it: at once, some more than once, and without what would have to be
 *     looked up
 * @param toListeners what another server settled, for who hears of all of it: whatever this server learns, as often as it can be known
 *     once, some later, since it was looked up
 */
public record Settlements<T>(LoopListeners<T> here, LoopListeners<T> toWaiters, LoopListeners<T> toListeners) {
    /** Nobody listens yet. */
    public Settlements() {
        this(new LoopListeners<>(), new LoopListeners<>(), new LoopListeners<>());
    }
}
