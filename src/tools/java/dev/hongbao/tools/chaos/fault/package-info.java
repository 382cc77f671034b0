/**
 * The faults. {@code Faults} lists every kind; {@link dev.hongbao.tools.chaos.fault.Schedule} chooses rounds of them by a seed. Blocking.
 */
@NullMarked
package dev.hongbao.tools.chaos.fault;

import org.jspecify.annotations.NullMarked;
