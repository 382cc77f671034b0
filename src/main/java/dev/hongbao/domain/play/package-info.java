/**
 * Plays of prize draws: the cost is held, the script decides in batches, the journal is settled into plays, awards and returned
 * holds. Each event loop has its own batchers and its own Redis connection; settling and returning run on the shard's owner.
 */
@NullMarked
package dev.hongbao.domain.play;

import org.jspecify.annotations.NullMarked;
