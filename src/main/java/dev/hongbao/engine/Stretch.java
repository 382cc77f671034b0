package dev.hongbao.engine;

import java.util.List;

/**
 * Places in one shard's journal. One server wrote at least the first and the last entry.
 *
 * @param epoch of the generation; places of another epoch are other places
 * @param firstSeq 1 or more
 * @param lastSeq not below the first
 */
record Stretch(int shard, long epoch, long firstSeq, long lastSeq) {
    Stretch {
        if (firstSeq < 1 || lastSeq < firstSeq) {
            throw new IllegalArgumentException("from " + firstSeq + " to " + lastSeq);
        }
    }

    static Stretch of(Generation generation, long seq) {
        return new Stretch(generation.shard(), generation.epoch(), seq, seq);
    }

    /** Joins two stretches, from the lowest place to the highest. A later generation replaces this stretch. */
    Stretch and(Stretch later) {
        return later.epoch != epoch
                ? later
                : new Stretch(shard, epoch, Math.min(firstSeq, later.firstSeq), Math.max(lastSeq, later.lastSeq));
    }

    /** Whether the move passes one of these places. */
    boolean isTouchedBy(CursorMoves.Move move) {
        return isIn(move) && firstSeq <= move.toSeq() && lastSeq > move.fromSeq();
    }

    boolean isTouchedByAny(List<CursorMoves.Move> moves) {
        for (CursorMoves.Move move : moves) {
            if (isTouchedBy(move)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the move passes the last of these places. */
    boolean isOverAfter(CursorMoves.Move move) {
        return isIn(move) && lastSeq <= move.toSeq();
    }

    private boolean isIn(CursorMoves.Move move) {
        return move.generation().shard() == shard && move.generation().epoch() == epoch;
    }
}
