/**
 * Messages between servers: a fast path, never a truth.
 *
 * <p>{@link ServerMessages} gathers this server's news from the event bus, selects the receivers and sends bytes over a
 * {@link ServerLine}. {@link RedisLine} signs them and uses Redis' publish/subscribe. News of other servers go to the listeners
 * on this server.
 *
 * <p>The server deploys it once; the domain adds its kinds of facts as {@link SettledFacts}. Every message may be lost, doubled,
 * late or malformed (invariant I5). Journals, cursors and tables decide, and polls find the facts of a lost message. Begin with
 * {@link ServerMessages}.
 */
@NullMarked
package dev.hongbao.engine.cluster;

import org.jspecify.annotations.NullMarked;
