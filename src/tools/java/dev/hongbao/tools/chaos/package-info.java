/**
 * The command {@code chaos}: {@code bed} starts stores and servers, {@code load} uses them, {@code fault} hurts them by a seed, and
 * {@code check} decides whether every promise was kept. {@link dev.hongbao.tools.chaos.Chaos} is a whole run. Blocking.
 */
@NullMarked
package dev.hongbao.tools.chaos;

import org.jspecify.annotations.NullMarked;
