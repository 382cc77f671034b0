/**
 * Prize draws (抽奖): draws, their plays, and the delivery of what was won.
 *
 * <p>{@code DrawCreator} writes a draw and moves all awards into escrow; {@code draw.lua} makes it playable. {@code PlayService} gives a
 * play's early answers and holds its cost in Postgres; {@code PlayBatcher} takes it to {@code play.lua}, which decides it;
 * {@code PlaySettler} writes plays, awards and returned costs. {@code HoldExpiry} returns a cost without a decision. {@code DrawOwnerTask}
 * writes the end into the journal, and {@code EndSettler} settles it with the return of the remainder. The host delivers wins and notes it.
 * {@code DrawComparison} checks Redis for {@code reconcile}.
 *
 * <p>Public: the door {@code Draws}; {@code DrawService} and {@code PlayService}, which the faces and the demo call; {@code PlayRoutes} and
 * {@code DrawBodies}, which frames and feeds share with HTTP; the nouns {@code Draw} and {@code Play}. Services belong to one event loop;
 * stores and the catalog are thread-safe; planning, closing and settling run on the shard's owner.
 *
 * <p>A draw never issues more of a prize than its stock. A request is played whole or not at all, and pays its cost exactly once; money and
 * stock return exactly once (I10). Every later answer equals the first settled one (I6). The definition never changes; the end may only come
 * earlier. A win's history only grows.
 *
 * <p>Begin with {@code Draws}, which makes the services, then {@code DrawCreator}, {@code PlayService} and {@code PlaySettler}. A call
 * begins in {@code DrawRoutes} or {@code PlayRoutes}.
 */
@NullMarked
package dev.hongbao.draw;

import org.jspecify.annotations.NullMarked;
