/** From accepted to settled: the journal's entries, the batches that write them, the callers that wait for them, what settles them, and what is set aside. Features build on this package. */
@NullMarked
package dev.hongbao.engine.journal;

import org.jspecify.annotations.NullMarked;
