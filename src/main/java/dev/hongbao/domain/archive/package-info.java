/**
 * Putting old months away into files, and reading them back. For an operator's command: blocking, on a connection of its own as the owner of
 * the tables. What becomes of the database is decided in {@code V19__archive.sql}.
 */
@NullMarked
package dev.hongbao.domain.archive;

import org.jspecify.annotations.NullMarked;
