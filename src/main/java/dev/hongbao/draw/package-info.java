/**
 * Prize draws (抽奖): draws, their plays, and the delivery of what was won.
 *
 * <p>{@code DrawCreator} writes a draw and moves all awards into escrow; {@code draw.lua} makes it playable. {@code PlayService} gives a
 * play's early answers and holds its cost in Postgres; {@code PlayBatcher} takes it to {@code play.lua}, which decides it; {@code
 * PlaySettler} writes plays, awards and returned costs. {@code DrawOwnerTask} writes the end into the journal, and {@code EndSettler}
 * settles it with the return of the remainder. The host delivers wins and notes it.
 *
 * <p>{@code feed}, {@code webhook}, {@code fairness}, {@code page} and {@code reconcile} read. Services belong to one event loop; stores
 * and the catalog are thread-safe; planning, closing and settling run on the shard's owner.
 *
 * <p>A draw never issues more of a prize than its stock. A request is played whole or not at all, and pays its cost exactly once; money
 * and stock return exactly once (I10). Every later answer equals the first settled one (I6). The definition never changes; the end may
 * only come earlier. A win's history only grows.
 *
 * <p>Begin with {@code Draws}, which makes the services, then {@code DrawCreator}, {@code PlayService} and {@code PlaySettler}.
 */
@NullMarked
package dev.hongbao.draw;

import org.jspecify.annotations.NullMarked;
