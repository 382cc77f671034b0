/**
 * Histories on virtual time. {@link dev.hongbao.simulation.Simulation} runs several servers of the real engine in one thread, on
 * models of the stores, and checks what they promise; begin reading there, then
 * {@link dev.hongbao.simulation.History}. The models are held against the real stores: {@link dev.hongbao.simulation.RedisModel}
 * by {@code RedisModelIT}, {@link dev.hongbao.simulation.PostgresTables} by {@code PostgresTablesIT}. {@code -Dseed=…} repeats a
 * history, {@code -Dseeds=…} sets their number.
 */
@NullMarked
package dev.hongbao.simulation;

import org.jspecify.annotations.NullMarked;
