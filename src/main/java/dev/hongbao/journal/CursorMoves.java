package dev.hongbao.journal;

import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * The cursors that one settlement moves: the first five parameters of each settling function. A cursor moves only from where
 * the writer believes it to be, in the generation it believes in, else the statement fails with a stale cursor.
 */
public final class CursorMoves {
    private final List<Move> moves = new ArrayList<>();

    /** One shard's cursor going from one journal entry to a later one. */
    record Move(Generation generation, long fromSeq, long toSeq) {}

    void add(Generation generation, long fromSeq, long toSeq) {
        moves.add(new Move(generation, fromSeq, toSeq));
    }

    List<Move> moves() {
        return moves;
    }

    /** A tuple that begins with the moves; the settler adds its own parameters. */
    public Tuple toTuple() {
        int size = moves.size();
        Short[] shards = new Short[size];
        Long[] epochs = new Long[size];
        String[] nonces = new String[size];
        Long[] from = new Long[size];
        Long[] to = new Long[size];
        for (int i = 0; i < size; i++) {
            Move move = moves.get(i);
            shards[i] = (short) move.generation.shard();
            epochs[i] = move.generation.epoch();
            nonces[i] = move.generation.nonce();
            from[i] = move.fromSeq;
            to[i] = move.toSeq;
        }
        return Tuple.tuple()
                .addArrayOfShort(shards)
                .addArrayOfLong(epochs)
                .addArrayOfString(nonces)
                .addArrayOfLong(from)
                .addArrayOfLong(to);
    }
}
