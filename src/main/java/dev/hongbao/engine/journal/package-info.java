/**
 * From accepted to settled: journal entries, the batches that write them, the callers that wait for them, and the quarantine.
 *
 * <p>A feature makes an {@link Attempt} with its event loop's {@link Attempts}. The {@link ScriptBatcher} puts it into a call of
 * {@link ShardScript}. The script appends
 * a journal entry. The shard's owner turns entries into a {@link SettlementBatch}, and a {@link Settler} commits it.
 * {@link SettlementWaiters} answer the callers.
 *
 * <p>The domain builds its {@link Mode}s on this package; the writer drives the settlement. An entry is settled at most once:
 * every effect depends on its cursor's move (invariant I9). Batchers and waiters are confined to one event loop. Begin with
 * {@link Attempt}, then {@link ScriptBatcher}.
 */
@NullMarked
package dev.hongbao.engine.journal;

import org.jspecify.annotations.NullMarked;
