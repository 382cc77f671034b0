package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.OwnerTask;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.List;

/** Settles the journal's items of one verb into Postgres. Called on the persistence verticle's event loop. */
public interface Settler {
    /** The form of its items. */
    JournalItem.Format format();

    /**
     * Looks up the facts that a settlement of the items needs.
     *
     * @return fails if a store did not answer
     */
    Future<Settlement> prepare(List<JournalItem> items);

    /** A settlement that is ready to be sent. */
    @FunctionalInterface
    interface Settlement {
        /**
         * Settles the items in the order given, in one statement that first moves the cursors; every effect depends on that move.
         * The statement is sent before this returns, so settlements happen in the order of the calls. Informs the waiting callers
         * after the commit.
         *
         * @param moves the cursors, and the journal entries they pass
         * @return the number of void items; fails if the statement failed or its outcome is unknown
         */
        Future<Integer> send(SqlClient writer, CursorMoves moves);
    }

    /**
     * Learns how the writer's settlements end, of every kind. It is for readers of Postgres; the facts themselves come from the
     * settlers. Called on the persistence verticle's event loop.
     */
    interface SettlementListener {
        /** A settlement was committed. */
        void settled();

        /** A settlement failed, or its outcome is unknown. The facts of an unknown one are never published. */
        void uncertain();

        /** Its periodic work for the owner of a shard. */
        List<OwnerTask> ownerTasks();
    }
}
