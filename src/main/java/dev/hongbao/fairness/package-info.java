/**
 * Fairness: anybody's check that a packet, a draw or a rain kept its commitment.
 *
 * <p>A send, a draw or a rain commits to its seed by a digest. After the close the seed is published. {@code Evidence} reads the API's
 * answers, and gives a {@code Evidence.Proof}: {@code PacketEvidence} recomputes amounts, {@code DrawReplay} plays, {@code RainEvidence}
 * moments. It lists contradictions, or what is proven.
 *
 * <p>Public is only {@code Evidence}; the command {@code verify} calls it. No clock and no store; only {@code Evidence} reads, from a given
 * stream. Immutable types are safe on any thread; the others are for one thread.
 *
 * <p>The digested bytes are a format, computed by other programs too, and never change. A seed is never shown before the close.
 *
 * <p>Begin with {@code Evidence}, then {@code PacketEvidence}.
 */
@NullMarked
package dev.hongbao.fairness;

import org.jspecify.annotations.NullMarked;
