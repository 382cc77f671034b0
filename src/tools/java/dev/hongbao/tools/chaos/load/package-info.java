/**
 * Simulated clients and the host's backend: each on its own thread, by its own random numbers.
 * {@link dev.hongbao.tools.chaos.load.History} keeps every call with its answer.
 */
@NullMarked
package dev.hongbao.tools.chaos.load;

import org.jspecify.annotations.NullMarked;
