package dev.hongbao.engine;

/**
 * The listeners to settled facts of one kind on a server. Best effort: a waiting caller is also looked up in Postgres.
 *
 * @param <T> the facts of one settlement
 * @param here gets all settlements of this server: once, after the commit
 * @param toWaiters gets settlements of other servers for the callers that wait here: at once, some more than once, without facts
 *     that need a lookup
 * @param toListeners gets every settlement of other servers that this server learns of: once where that can be known, some late,
 *     after a lookup
 */
public record Settlements<T>(LoopListeners<T> here, LoopListeners<T> toWaiters, LoopListeners<T> toListeners) {
    public Settlements() {
        this(new LoopListeners<>(), new LoopListeners<>(), new LoopListeners<>());
    }
}
