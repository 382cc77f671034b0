/**
 * A shard and its generation: its keys, its stamped and fenced scripts, its row in Postgres, and reports to its owner.
 *
 * <p>The life of a generation:
 *
 * <ol>
 *   <li>The first start fixes the number of shards. {@link Installation} claims the namespace in Redis.
 *   <li>A recovery draws the {@link Generation} in {@link ShardStore}, writes its keys, and loads its scripts last.
 *   <li>Each server reads the generations into {@link Shards}, and calls their scripts.
 *   <li>A script of an old generation meets NOSCRIPT and changes nothing. The server reports a {@link Symptom}.
 *   <li>The owner verifies the report, and the next recovery begins.
 * </ol>
 *
 * <p>The journal, the writer and the domain call it. A shard has one live generation (invariant I9), and no epoch is used twice
 * (I13). All classes are immutable or thread-safe. Begin with {@link Generation}, then {@link Shards}.
 */
@NullMarked
package dev.hongbao.engine.shard;

import org.jspecify.annotations.NullMarked;
