/**
 * The checker: which rules a history breaks, judged by the history and the rows of the database alone. Pure functions; the books' own rules
 * are those of {@code reconcile}, and are not written again here.
 */
@NullMarked
package dev.hongbao.tools.chaos.check;

import org.jspecify.annotations.NullMarked;
