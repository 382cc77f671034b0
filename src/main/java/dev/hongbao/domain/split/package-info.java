/**
 * The split: a pure function of algorithm, seed, total, count, min and max to the amounts of the shares.
 *
 * <p>No I/O, no Vert.x, no clock, no floating point; every type is safe on any thread except {@code SeedStream},
 * which one call owns. Invariants: the amounts sum to the total exactly, each is within [min, max], every feasible
 * input is accepted and every infeasible one refused with a reason.
 *
 * <p>Packets store their seed, so what a seed expands to is a format: it must never change for an existing version.
 * {@code SplitGoldenTest} holds it in place. A new way of drawing gets a new algorithm name or a new stream label.
 */
@NullMarked
package dev.hongbao.domain.split;

import org.jspecify.annotations.NullMarked;
