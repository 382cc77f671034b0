/**
 * A shard and its generation: its keys, its stamped and fenced scripts, its row in Postgres, and reports to its owner.
 *
 * <p>The first start fixes the number of shards. Recovery draws a generation in {@link ShardStore} and loads its
 * {@link ScriptSet}. Each server reads the generations into {@link Shards}. A script of an old generation meets NOSCRIPT and
 * changes nothing. The server then reports a {@link Symptom}, and the owner verifies it.
 *
 * <p>The journal, the writer and the domain call it. A shard has one live generation (invariant I9), and no epoch is used twice
 * (I13). All classes are immutable or thread-safe. Begin with {@link Generation}, then {@link Shards}.
 */
@NullMarked
package dev.hongbao.engine.shard;

import org.jspecify.annotations.NullMarked;
