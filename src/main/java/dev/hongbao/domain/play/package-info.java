/**
 * Plays of prize draws.
 *
 * <p>Life of a play: {@code PlayService} gives the early answers, and admits it. {@code PlayRequestStore} holds the cost in Postgres. {@code PlayBatcher} takes
 * the request to {@code play.lua}, which decides it. {@code PlaySettler} writes plays, awards and returned costs on the shard's owner.
 * {@code HoldExpiry} returns a held cost that was never decided.
 *
 * <p>Callers: {@code web}, through {@code PlayService}, on its event loop; {@code server}, which wires the owner's parts; {@code feed} and
 * {@code reconcile}. Each event loop has its own batchers and its own Redis connection.
 *
 * <p>Invariants: a request is played whole or not at all. A play pays its cost exactly once, and a hold ends exactly once, as a play or as
 * a return (I10). Every later answer equals the first settled one (I6).
 *
 * <p>Begin with {@code PlayService}, then {@code PlaySettler}.
 */
@NullMarked
package dev.hongbao.domain.play;

import org.jspecify.annotations.NullMarked;
