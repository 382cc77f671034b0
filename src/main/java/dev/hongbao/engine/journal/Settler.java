package dev.hongbao.engine.journal;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.List;

/**
 * Settles the journal's items of one verb into Postgres. Called on the persistence verticle's event loop.
 */
public interface Settler {
    /** Of the items that it settles. */
    JournalFormat format();

    /**
     * Looks up what it takes to settle items.
     *
     * @return fails when a store did not answer
     */
    Future<Settlement> prepare(List<JournalItem> items);

    /** A settlement that is ready to be sent. */
    @FunctionalInterface
    interface Settlement {
        /**
         * Settles the items in the order given, in one statement that first moves the cursors; every effect depends on that move.
         * The statement is sent before this returns, so that settlements are made in the order of the calls. Tells those who wait
         * once it is committed.
         *
         * @param moves the cursors, and the journal entries they pass
         * @return how many items were void; fails when the statement failed or its outcome is unknown
         */
        Future<Integer> send(SqlClient writer, CursorMoves moves);
    }
}
