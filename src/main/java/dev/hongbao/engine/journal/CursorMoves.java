package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * The cursors that one settlement moves: the first five parameters of each settling function. A cursor moves only from where
 * the writer believes it to be, in the generation it believes in, else the statement fails with a stale cursor. What is passed
 * over without being settled goes along: it is set aside in the same statement.
 */
public final class CursorMoves {
    private final List<Move> moves;
    private final SetAside aside = new SetAside();
    private final boolean undone;

    /** One shard's cursor going from one journal entry to a later one. */
    public record Move(Generation generation, long fromSeq, long toSeq) {}

    CursorMoves() {
        this(new ArrayList<>(), false);
    }

    private CursorMoves(List<Move> moves, boolean undone) {
        this.moves = moves;
        this.undone = undone;
    }

    /** None: for what is in no journal any more, and is settled in a transaction that the caller commits or rolls back. */
    public static CursorMoves none() {
        return new CursorMoves();
    }

    /** The same cursors, with nothing set aside yet. */
    public CursorMoves again() {
        return new CursorMoves(moves, false);
    }

    /** The same cursors, for a statement that is undone at its end: it fails with {@link dev.hongbao.engine.postgres.SqlState#isUndone}. */
    public CursorMoves undone() {
        return new CursorMoves(moves, true);
    }

    public void add(Generation generation, long fromSeq, long toSeq) {
        moves.add(new Move(generation, fromSeq, toSeq));
    }

    /** The items are in no journal: the caller's transaction fails as a whole, so nothing can be tried in it. */
    public boolean isNone() {
        return moves.isEmpty();
    }

    public List<Move> moves() {
        return moves;
    }

    public SetAside aside() {
        return aside;
    }

    /**
     * Sends the call of a settling function, and with it what is set aside.
     *
     * @param call a select that ends with the function, which returns {@code settled_at}
     * @param parameters of the call; those of {@link #toTuple} first
     */
    public Future<RowSet<Row>> send(SqlClient writer, String call, Tuple parameters) {
        String statement = call;
        if (!aside.isEmpty()) {
            statement += aside.call(parameters.size());
            aside.addTo(parameters);
        }
        return writer.preparedQuery(undone ? statement + ", lateral undo(settled_at)" : statement)
                .execute(parameters);
    }

    /** Moves the cursors past entries that nobody settles. */
    public Future<Void> moveOnly(SqlClient writer) {
        String call = "select settled_at from (select move_cursors($1, $2, $3, $4, $5), now() as settled_at) as moved";
        return send(writer, call, toTuple()).mapEmpty();
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
