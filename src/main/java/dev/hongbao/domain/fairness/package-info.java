/**
 * Fairness: commitments before a race, and their check afterwards.
 *
 * <p>Life of a proof: a send, a draw or a rain commits to its seed by a digest. After the close the seed is published. {@code Evidence}
 * reads the API's answers, and gives a {@code Proof} that recomputes the amounts, plays or moments. It lists contradictions, or what is
 * proven.
 *
 * <p>Callers: {@code packet}, {@code draw} and {@code rain}, for commitments and seeds; {@code reconcile}; the command {@code verify}. No
 * clock and no store; only {@code Evidence} reads, from a given stream. Immutable types are safe on any thread; the others are for one
 * thread.
 *
 * <p>Invariants: the digested bytes are a format, computed by other programs too, and never change. A seed is never shown before the close.
 *
 * <p>Begin with {@code Commitment}, then {@code PacketEvidence}.
 */
@NullMarked
package dev.hongbao.domain.fairness;

import org.jspecify.annotations.NullMarked;
