/** Shared Postgres mechanics: pools, migrations, SQL states, transactions that retry. */
@NullMarked
package dev.hongbao.postgres;

import org.jspecify.annotations.NullMarked;
