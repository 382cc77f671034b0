/** Shared Postgres mechanics: pools, migrations, SQL states, transactions that retry, deadlines, Postgres' clock. */
@NullMarked
package dev.hongbao.engine.postgres;

import org.jspecify.annotations.NullMarked;
