/**
 * Shared Redis mechanics: pinned, pipelined connections that reconnect, and the meaning of Redis' errors.
 *
 * <p>{@code RedisLinks} opens one event loop's connections: to one server ({@code ServerLink}), to the masters of a cluster ({@code
 * ClusterLinks}), or to the master that sentinels name ({@code SentinelLinks}). A {@code RedisLink} is the route of a key's commands,
 * wherever the key moves. A lost connection reconnects by itself. A failed command says by its {@code RedisFault} whether it may have
 * run.
 *
 * <p>Public are {@code RedisLinks} and {@code RedisLink}, and addresses, scripts and faults; the kinds of links are hidden. Every layer
 * above may call it, but only the journal calls fenced scripts. Links are confined to their event loop. No command waits longer than its
 * timeout, and none is repeated here, except where MOVED points. Begin with {@code RedisLinks}, then {@code ServerLink}.
 */
@NullMarked
package dev.hongbao.store.redis;

import org.jspecify.annotations.NullMarked;
