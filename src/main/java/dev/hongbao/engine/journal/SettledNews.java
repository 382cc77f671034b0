package dev.hongbao.engine.journal;

import dev.hongbao.common.vertx.LoopListeners;

/**
 * Where settled facts of one kind are told on a server. Best effort: who waits for one looks in Postgres too.
 *
 * @param <T> the facts of one settlement
 * @param here what this server settled: once, after the commit
 * @param heard what another server says that it has settled: some more than once
 * @param elsewhere what another server settled, each once, some later, since it had to be looked up: for who listens, not for who waits
 */
public record SettledNews<T>(LoopListeners<T> here, LoopListeners<T> heard, LoopListeners<T> elsewhere) {
    /** Nobody listens yet. */
    public SettledNews() {
        this(new LoopListeners<>(), new LoopListeners<>(), new LoopListeners<>());
    }
}
