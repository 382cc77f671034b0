/**
 * The writer: owns shards, settles their journals into Postgres, recovers them, and sets poison aside.
 *
 * <p>{@link PersistenceVerticle} connects and takes shards by advisory locks ({@link Ownership}). Each shard's state is
 * established, and if necessary recovered ({@link RecoveryAttempts}). Then {@link SettlementLoop} settles entry after entry.
 * {@link ShardSupervisor} watches for faults. At a stop the shards go to another server.
 *
 * <p>Only the composition root calls it. A shard has one owner, and the cursor fences a stale one (invariant I9). A failed
 * recovery may start again from the beginning. Everything runs on one event loop. Begin with {@link PersistenceVerticle}, then
 * {@link SettlementLoop}.
 */
@NullMarked
package dev.hongbao.engine.writer;

import org.jspecify.annotations.NullMarked;
