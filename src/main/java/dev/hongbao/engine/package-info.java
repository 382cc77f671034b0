/**
 * The engine: from accepted to settled, for any subject. It knows no packet and no draw.
 *
 * <p>A subject makes a command, and {@code ScriptBatcher} puts it into a call of a shard's script ({@code ShardScript}), which decides it
 * and appends a journal entry. The shard's owner ({@code Ownership}, by an advisory lock) turns entries into batches ({@code
 * BatchSettler}), and a {@code Settler} of the subject commits them; {@code SettlementWaiters} answer the callers. {@code Recovery} draws
 * a new {@code Generation} in {@code ShardStore} and loads the keys from Postgres. {@code AdmissionControl} refuses what cannot settle in
 * time. {@code ServerMessages} tell other servers over {@code RedisLine}, and {@code ShardWatch} the operator.
 *
 * <p>Public is what a {@code Mode} of a subject and its services are written with, what the server makes once, and what an operator reads
 * ({@code ShardOwners}, {@code QuarantineStore}). {@code Shards} makes the verticles, and only the server deploys them. Batchers and
 * waiters are confined to one event loop; the writer ({@code PersistenceVerticle}) runs on one of its own; shards are shared and
 * thread-safe.
 *
 * <p>A shard has one owner and one live generation; the stamp in a script's text is the fence, and the cursor moves first: an entry is
 * settled at most once (I9). No epoch is used twice (I13). Every message may be lost, doubled or late (I5); polls find the facts.
 *
 * <p>Begin with {@code Generation}, then {@code ScriptBatcher}, {@code SettlementLoop} and {@code Recovery}.
 */
@NullMarked
package dev.hongbao.engine;

import org.jspecify.annotations.NullMarked;
