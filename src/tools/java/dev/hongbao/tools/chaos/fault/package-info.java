/** The faults: what each does and how it is mended, and the seeded schedule of rounds of some at once. Blocking. */
@NullMarked
package dev.hongbao.tools.chaos.fault;

import org.jspecify.annotations.NullMarked;
