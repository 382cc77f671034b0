/**
 * The writer: owns shards, settles their journals into Postgres, recovers them, and sets poison aside.
 *
 * <p>The life of a shard; {@link ShardLog} draws its states:
 *
 * <ol>
 *   <li>{@link Ownership} takes the shard's advisory lock in Postgres. The shard is suspended.
 *   <li>{@link RecoveryAttempts} reads its row and looks at its Redis. If they disagree, {@link Recovery} draws a new generation.
 *   <li>The shard is live: {@link SettlementLoop} settles entry after entry, each batch in one transaction of
 *       {@link BatchSettler}.
 *   <li>{@link ShardSupervisor} suspends the shard after a fault, and step 2 follows.
 *   <li>The shard moves to another server by {@link ShardSupervisor#rest}, or with the loss of the connection that holds its lock.
 * </ol>
 *
 * <p>Only the composition root calls the package, by {@link PersistenceVerticle}. Everything runs on its event loop. A shard has
 * one owner, and the cursor fences a stale one (invariant I9). A failed recovery may start again from the beginning. Begin with
 * {@link ShardLog}, then {@link PersistenceVerticle}, which wires the others in reading order.
 */
@NullMarked
package dev.hongbao.engine.writer;

import org.jspecify.annotations.NullMarked;
