/**
 * Shared Postgres mechanics: connections, pools, migrations, SQL states, transactions that retry, deadlines, Postgres' clock.
 *
 * <p>The life of a connection:
 *
 * <ol>
 *   <li>At the start {@link Migrations} brings the schema, on a connection of its own.
 *   <li>{@link Postgres} connects. A server that stays silent in the handshake is left, and one that takes no writes is closed.
 *   <li>{@link GatheredCommands} and {@link GatheredLookups} put many calls into one statement.
 *   <li>Postgres ends a slow statement. A {@link Deadline} closes a connection whose answer is overdue.
 *   <li>A failure means infrastructure; {@link SqlState} says of which kind.
 * </ol>
 *
 * <p>Every layer above may call it. No call waits for ever. After a broken connection the effect is unknown, and only idempotent
 * work is repeated. Postgres' clock decides what is due (invariant I14). Begin with {@link Postgres}.
 */
@NullMarked
package dev.hongbao.engine.postgres;

import org.jspecify.annotations.NullMarked;
