/**
 * The split: a pure function of algorithm, seed, total, count, min and max to the amounts of the shares.
 *
 * <p>Life of a split: {@code SplitTerms} checks that it is feasible. {@code SeedStream} expands the seed. {@code DoubleMean},
 * {@code Inflate} or {@code EvenLuck} draws the shares, and {@code Split} shuffles them and checks their sum. Packets store the seed, so
 * that anyone can repeat the split after the close.
 *
 * <p>Public: {@code SplitTerms} and {@code Split}. Callers: {@code packet} and {@code campaign}; {@code fairness} and {@code reconcile}; the
 * command {@code split}. No I/O, no Vert.x, no clock, no floating point. Every type is safe on any thread except {@code SeedStream}, which
 * one call owns.
 *
 * <p>Invariants: the amounts sum to the total exactly, and each is within [min, max]. Every feasible input is accepted, and every infeasible
 * one refused with a reason. A seed's amounts are a format: they never change for an existing version, and {@code FairnessVectorsTest}
 * checks that. A new way of drawing gets a new algorithm name or a new stream label.
 *
 * <p>Begin with {@code Split}, then {@code DoubleMean}.
 */
@NullMarked
package dev.hongbao.packet.split;

import org.jspecify.annotations.NullMarked;
