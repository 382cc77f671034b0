/**
 * Prize draws (抽奖) but for the plays themselves: creation with the awards put into escrow, what a viewer sees, scheduled prizes,
 * the close, and what recovery writes into Redis. Services belong to one event loop; stores may be shared; planning and closing
 * run on the shard's owner.
 */
@NullMarked
package dev.hongbao.domain.draw;

import org.jspecify.annotations.NullMarked;
