/**
 * The checker. {@link dev.hongbao.tools.chaos.check.Rule} lists the promises; {@link dev.hongbao.tools.chaos.check.Checker} judges by the
 * clients' history and the rows of the database alone. Pure functions of immutable values. {@code reconcile} has the rules of the books.
 */
@NullMarked
package dev.hongbao.tools.chaos.check;

import org.jspecify.annotations.NullMarked;
