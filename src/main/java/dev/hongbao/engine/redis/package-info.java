/**
 * Shared Redis mechanics: pinned, pipelined connections that reconnect, and the meaning of Redis' errors.
 *
 * <p>{@link RedisLinks} opens one event loop's connections: to one server, to the masters of a cluster, or to the master that
 * sentinels name. A {@link RedisLink} is the route of a key's commands, wherever the key moves. A lost connection reconnects by
 * itself. A failed command says by its {@link RedisFault} whether it may have run.
 *
 * <p>Every layer above may call it, but only the journal calls fenced scripts. Links are confined to their event loop. No command
 * waits longer than its timeout, and none is repeated here, except where MOVED points. Begin with {@link RedisLinks}, then
 * {@link ServerLink}.
 */
@NullMarked
package dev.hongbao.engine.redis;

import org.jspecify.annotations.NullMarked;
