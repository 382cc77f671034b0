/**
 * Prize draws (抽奖), without the plays: see {@code domain.play} for those, and {@code domain.odds} for the rules of chance.
 *
 * <p>Life of a draw: {@code DrawCreator} writes it and moves all awards into escrow. {@code draw.lua} makes it playable. {@code
 * DrawPlanner} puts scheduled prizes on the schedule, a period at a time. {@code DrawOwnerTask} writes the end into the journal, and {@code
 * EndSettler} settles it with the return of the remainder. The seed is published, and the keys leave Redis.
 *
 * <p>Callers: {@code web}, through {@code DrawService}, on its event loop, and {@code DrawFiles}; {@code play}, {@code fulfilment}, {@code
 * feed} and {@code reconcile}. Stores and the catalog are thread-safe. Planning and closing run on the shard's owner.
 *
 * <p>Invariants: a draw never issues more of a prize than its stock (I10). Money and stock return exactly once. The definition never
 * changes; the end may only come earlier.
 *
 * <p>Begin with {@code Draw}, then {@code DrawCreator} and {@code DrawOwnerTask}.
 */
@NullMarked
package dev.hongbao.domain.draw;

import org.jspecify.annotations.NullMarked;
