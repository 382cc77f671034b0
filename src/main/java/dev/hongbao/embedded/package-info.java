/** Real Redis and Postgres as child processes, for a start with nothing installed. */
@NullMarked
package dev.hongbao.embedded;

import org.jspecify.annotations.NullMarked;
