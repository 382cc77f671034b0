package dev.hongbao.engine.writer;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/**
 * A number that every server of a database shows for as long as it is alive: a shared advisory lock on the connection that also holds
 * its shards, taken before them. Nothing is left of a server that has stopped, so that what the number stands for may change then.
 * Immutable.
 */
public final class Presence {
    /** Shows nothing. */
    public static final Presence NONE = new Presence(0, others -> {});

    /** The first key of the advisory locks: "hk". */
    private static final int LOCK_CLASS = 0x686b;

    private final int number;
    private final Check check;

    /** What a server makes of the others. */
    @FunctionalInterface
    public interface Check {
        /**
         * Called whenever the connection is made; on the event loop.
         *
         * @param numbers the other numbers that are shown now; mostly empty
         * @throws Exception when this server may own no shard beside them
         */
        void look(List<Integer> numbers) throws Exception;
    }

    /**
     * @param number not 0
     * @param check keeps this server from owning shards
     */
    public Presence(int number, Check check) {
        this.number = number;
        this.check = check;
    }

    /**
     * Shows the number until the connection ends, and looks who else is there. Two servers that do so at the same time see each other.
     *
     * @return fails as the check does
     */
    Future<Void> show(SqlClient connection) {
        return number == 0
                ? Future.succeededFuture()
                : connection
                        .preparedQuery("select pg_advisory_lock_shared($1, $2)")
                        .execute(Tuple.of(LOCK_CLASS, number))
                        .compose(shown -> others(connection))
                        .compose(others -> {
                            try {
                                check.look(others);
                                return Future.succeededFuture();
                            } catch (Exception refused) {
                                return Future.failedFuture(refused);
                            }
                        });
    }

    private Future<List<Integer>> others(SqlClient client) {
        return client.preparedQuery("select distinct objid::bigint from pg_locks where locktype = 'advisory'"
                        + " and classid = $1::bigint::oid and objsubid = 2"
                        + " and database = (select oid from pg_database where datname = current_database())")
                .execute(Tuple.of((long) LOCK_CLASS))
                .map(rows -> {
                    List<Integer> others = new ArrayList<>();
                    rows.forEach(row -> {
                        int shown = (int) (long) row.getLong(0);
                        if (shown != number) {
                            others.add(shown);
                        }
                    });
                    return others;
                });
    }
}
