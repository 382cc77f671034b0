/**
 * The gauges of all shards for operators, whichever server owns them.
 *
 * <p>Every two seconds, {@link ShardWatch} reads the cursors from Postgres and the journals and the memory from Redis. It has a
 * connection of its own. The metrics report lengths, ages, epochs and memory.
 *
 * <p>The server deploys it once; other packages only add their event loops to a {@link LoopSum}. It writes nothing, and no claim
 * waits for it. Begin with {@link ShardWatch}.
 */
@NullMarked
package dev.hongbao.engine.watch;

import org.jspecify.annotations.NullMarked;
