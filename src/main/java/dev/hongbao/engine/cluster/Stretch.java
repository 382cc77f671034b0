package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import dev.hongbao.engine.shard.Shards;
import java.util.List;

/**
 * Places in one shard's journal, of which at least the first and the last hold entries that one server has written.
 *
 * @param epoch of the generation; places of another one are other places
 * @param firstSeq 1 or more
 * @param lastSeq not below the first
 */
record Stretch(int shard, long epoch, long firstSeq, long lastSeq) {
    Stretch {
        if (firstSeq < 1 || lastSeq < firstSeq) {
            throw new IllegalArgumentException("from " + firstSeq + " to " + lastSeq);
        }
    }

    static Stretch of(Shards.ForeignEntry entry) {
        return new Stretch(entry.generation().shard(), entry.generation().epoch(), entry.seq(), entry.seq());
    }

    /** From the first place of both to the last; of another generation this one counts no more. */
    Stretch and(Stretch later) {
        return later.epoch != epoch
                ? later
                : new Stretch(shard, epoch, Math.min(firstSeq, later.firstSeq), Math.max(lastSeq, later.lastSeq));
    }

    /** Whether the cursor passes one of its places. */
    boolean isTouchedBy(CursorMoves.Move move) {
        return isIn(move) && firstSeq <= move.toSeq() && lastSeq > move.fromSeq();
    }

    /** Whether one of them passes one of its places. */
    boolean isTouchedByAny(List<CursorMoves.Move> moves) {
        for (CursorMoves.Move move : moves) {
            if (isTouchedBy(move)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the cursor is beyond all of its places then. */
    boolean isOverAfter(CursorMoves.Move move) {
        return isIn(move) && lastSeq <= move.toSeq();
    }

    private boolean isIn(CursorMoves.Move move) {
        return move.generation().shard() == shard && move.generation().epoch() == epoch;
    }
}
