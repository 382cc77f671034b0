package dev.hongbao.journal;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * A number that every server of a database shows for as long as it is alive: a shared advisory lock on the connection that also holds
 * its shards. Nothing is left of a server that has stopped, so that what the number stands for may change then. Stateless.
 */
public final class Presence {
    /** Shows none. */
    public static final int NONE = 0;

    /** The first key of the advisory locks: "hk". */
    private static final int LOCK_CLASS = 0x686b;

    private Presence() {}

    /** Shows the number until the connection ends. */
    static Future<Void> show(SqlClient connection, int number) {
        return number == NONE
                ? Future.succeededFuture()
                : connection
                        .preparedQuery("select pg_advisory_lock_shared($1, $2)")
                        .execute(Tuple.of(LOCK_CLASS, number))
                        .mapEmpty();
    }

    /** The other numbers that are shown now. Two servers that ask after they have shown theirs see each other. */
    public static Future<List<Integer>> others(SqlClient client, int own) {
        return client.preparedQuery("select distinct objid::bigint from pg_locks where locktype = 'advisory'"
                        + " and classid = $1::bigint::oid and objsubid = 2"
                        + " and database = (select oid from pg_database where datname = current_database())")
                .execute(Tuple.of((long) LOCK_CLASS))
                .map(rows -> {
                    List<Integer> others = new ArrayList<>();
                    rows.forEach(row -> {
                        int shown = (int) (long) row.getLong(0);
                        if (shown != own) {
                            others.add(shown);
                        }
                    });
                    return others;
                });
    }
}
