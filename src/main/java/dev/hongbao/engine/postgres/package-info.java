/**
 * Shared Postgres mechanics: connections, pools, migrations, SQL states, transactions that retry, deadlines, Postgres' clock.
 *
 * <p>At the start {@link Migrations} brings the schema. {@link Postgres} makes each connection, guards it with a deadline, and
 * closes one that accepts no writes. {@link GatheredCommands} and {@link GatheredLookups} put many calls into one statement. A
 * failure means infrastructure; {@link SqlState} says of which kind.
 *
 * <p>Every layer above may call it. No call waits for ever. After a broken connection the effect is unknown, and only idempotent
 * work is repeated. Postgres' clock decides what is due (invariant I14). Begin with {@link Postgres}.
 */
@NullMarked
package dev.hongbao.engine.postgres;

import org.jspecify.annotations.NullMarked;
