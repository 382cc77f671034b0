package dev.hongbao.journal;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settles the journal's items of one verb into Postgres. Called on the persistence verticle's event loop, one settlement at a
 * time.
 */
public interface Settler {
    /** The field name of its items in a journal entry. */
    String verb();

    /**
     * Reads an item back from the journal.
     *
     * @return null when the text is not what the script writes; such an item is void
     */
    @Nullable
    JournalItem decode(String payload);

    /**
     * Settles items in the order given, in one statement that first moves the cursors; every effect depends on that move.
     * Tells those who wait once it is committed.
     *
     * @param moves the cursors, and the journal entries they pass
     * @return how many items were void; fails when the statement failed or its outcome is unknown
     */
    Future<Integer> settle(SqlClient writer, CursorMoves moves, List<JournalItem> items);
}
