/**
 * Shared Redis mechanics: pinned, pipelined connections that reconnect, and the meaning of Redis' errors.
 *
 * <p>The life of a connection:
 *
 * <ol>
 *   <li>{@link RedisLinks#open} reads the {@link RedisAddress}: one server, the masters of a cluster, or a master behind
 *       sentinels.
 *   <li>A caller takes the {@link RedisLink} of its key once. The link stays valid wherever the key moves.
 *   <li>{@link ServerLink} pipelines the commands. A {@link RedisFault} says whether a failed one may have run.
 *   <li>After a broken connection or a late reply it drops the connection, and connects to the current address.
 *   <li>The owner of the links closes them with its event loop.
 * </ol>
 *
 * <p>Every layer above may call it, but only the journal calls fenced scripts. Links are confined to their event loop. No command
 * waits longer than its timeout, and none is repeated here, except where MOVED points. Begin with {@link RedisLinks}, then
 * {@link ServerLink}.
 */
@NullMarked
package dev.hongbao.engine.redis;

import org.jspecify.annotations.NullMarked;
