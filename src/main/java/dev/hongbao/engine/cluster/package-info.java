/**
 * Messages between servers: a fast path, never a truth.
 *
 * <p>The life of a message:
 *
 * <ol>
 *   <li>The event bus has news of this server: an entry in another owner's journal, a settlement, a change of a feed.
 *   <li>{@link ServerMessages} selects the receivers by {@link Peers}, the other servers' own messages about themselves.
 *   <li>{@link RedisLine} signs the messages of one pass of the event loop, and publishes them in Redis.
 *   <li>The receiver checks signature, version and generation, and drops the rest.
 *   <li>It wakes the writer, or passes the settled facts to its listeners.
 * </ol>
 *
 * <p>The server deploys it once; the domain adds its kinds of facts as {@link SettledFacts}. Every message may be lost, doubled,
 * late or malformed (invariant I5). Journals, cursors and tables decide, and polls find the facts of a lost message. Begin with
 * {@link ServerMessages}.
 */
@NullMarked
package dev.hongbao.engine.cluster;

import org.jspecify.annotations.NullMarked;
