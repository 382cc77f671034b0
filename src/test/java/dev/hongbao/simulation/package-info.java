/**
 * Models of the stores for histories on virtual time. {@link dev.hongbao.simulation.RedisModel} runs the real scripts in
 * memory, and {@link dev.hongbao.simulation.RedisModelIT} compares it with a real Redis: {@code -Dseed=…} repeats a history,
 * {@code -Dseeds=…} sets their number.
 */
@NullMarked
package dev.hongbao.simulation;

import org.jspecify.annotations.NullMarked;
