/**
 * Shared Postgres mechanics: connections, pools, migrations, SQL states, transactions that retry, deadlines, Postgres' clock.
 *
 * <p>At the start {@code Migrations} brings the schema. {@code Postgres} makes each connection, guards it with a deadline, and closes one
 * that accepts no writes. {@code GatheredCommands} and {@code GatheredLookups} put many calls into one statement. A failure means
 * infrastructure; {@code SqlState} says of which kind.
 *
 * <p>Everything here is public: every layer above may call it. No call waits for ever. After a broken connection the effect is unknown,
 * and only idempotent work is repeated. Postgres' clock decides what is due (invariant I14). Begin with {@code Postgres}.
 */
@NullMarked
package dev.hongbao.store.postgres;

import org.jspecify.annotations.NullMarked;
