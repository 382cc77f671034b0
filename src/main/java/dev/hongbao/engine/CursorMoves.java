package dev.hongbao.engine;

import dev.hongbao.store.postgres.Rows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * The cursors that one settlement moves: the first five parameters of each settling function. A cursor moves only if its place
 * and generation are what the writer believes; else the statement fails with a stale cursor. Items that are passed over are set
 * aside in the same statement. Not thread-safe.
 */
public final class CursorMoves {
    private final List<Move> moves;
    private final Quarantine.SetAside aside = new Quarantine.SetAside();
    private final boolean undone;

    /** One shard's cursor moves from one journal entry to a later one. */
    public record Move(Generation generation, long fromSeq, long toSeq) {}

    CursorMoves() {
        this(new ArrayList<>(), false);
    }

    private CursorMoves(List<Move> moves, boolean undone) {
        this.moves = moves;
        this.undone = undone;
    }

    /** No moves: for items that have left the journal. The caller commits or rolls back the transaction that settles them. */
    public static CursorMoves none() {
        return new CursorMoves();
    }

    /** A copy of the moves, with nothing set aside. */
    public CursorMoves again() {
        return new CursorMoves(moves, false);
    }

    /**
     * A copy of the moves for a trial. Its statement is undone at its end: it fails with
     * {@link dev.hongbao.store.postgres.SqlState#isUndone}.
     */
    public CursorMoves undone() {
        return new CursorMoves(moves, true);
    }

    public void add(Generation generation, long fromSeq, long toSeq) {
        moves.add(new Move(generation, fromSeq, toSeq));
    }

    /** Whether the items have left the journal. A failure then ends the caller's transaction, so no trials are possible in it. */
    public boolean isNone() {
        return moves.isEmpty();
    }

    public List<Move> moves() {
        return moves;
    }

    public Quarantine.SetAside aside() {
        return aside;
    }

    /**
     * Calls a settling function, and sets items aside in the same statement.
     *
     * @param call a select that ends with the function; the function returns {@code settled_at}
     * @param parameters the parameters of the call, first those from {@link #toTuple}
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

    /** Moves the cursors past entries without anything to settle. */
    public Future<Void> moveOnly(SqlClient writer) {
        String call = "select settled_at from (select move_cursors($1, $2, $3, $4, $5), now() as settled_at) as moved";
        return send(writer, call, toTuple()).mapEmpty();
    }

    /** A tuple that begins with the moves; the settler appends its own parameters. */
    public Tuple toTuple() {
        return Tuple.tuple()
                .addArrayOfShort(Rows.column(moves, Short[]::new, move -> (short) move.generation.shard()))
                .addArrayOfLong(Rows.column(moves, Long[]::new, move -> move.generation.epoch()))
                .addArrayOfString(Rows.texts(moves, move -> move.generation.nonce()))
                .addArrayOfLong(Rows.column(moves, Long[]::new, Move::fromSeq))
                .addArrayOfLong(Rows.column(moves, Long[]::new, Move::toSeq));
    }
}
