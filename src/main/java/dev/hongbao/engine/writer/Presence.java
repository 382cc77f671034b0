package dev.hongbao.engine.writer;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Numbers that a server of a database shows to the others for as long as it is alive: shared advisory locks on the connection that
 * also holds its shards, taken before them. Nothing is left of a server that has stopped, so that what the numbers stand for may
 * change then. They may change while it is alive, too. Thread-safe.
 */
public final class Presence {
    /** The first key of the advisory locks: "hk". */
    private static final int LOCK_CLASS = 0x686b;

    private final Check check;
    private volatile Set<Integer> numbers;

    /** What a server makes of the others. */
    @FunctionalInterface
    public interface Check {
        /**
         * Called whenever the connection is made; on the event loop.
         *
         * @param servers what each server shows now, this one among them
         * @throws Exception when this server may own no shard beside them
         */
        void look(List<Set<Integer>> servers) throws Exception;
    }

    /**
     * @param numbers to show; may be none
     * @param check keeps this server from owning shards
     */
    public Presence(Set<Integer> numbers, Check check) {
        this.numbers = Set.copyOf(numbers);
        this.check = check;
    }

    /** Shows nothing, and works beside everybody. */
    public static Presence none() {
        return new Presence(Set.of(), servers -> {});
    }

    /** Shows these numbers instead, about a second from now. */
    public void change(Set<Integer> others) {
        numbers = Set.copyOf(others);
    }

    /**
     * Shows the numbers on a new connection until it ends, and looks who else is there. Two servers that do so at the same time see
     * each other.
     *
     * @return what the connection shows now; fails as the check does
     */
    Future<Set<Integer>> begin(SqlClient connection) {
        return show(connection, Set.of())
                .compose(shown -> shown.isEmpty()
                        ? Future.succeededFuture(shown)
                        : ofAll(connection).compose(servers -> {
                            try {
                                check.look(servers);
                                return Future.succeededFuture(shown);
                            } catch (Exception refused) {
                                return Future.failedFuture(refused);
                            }
                        }));
    }

    /**
     * Shows what a connection does not show yet, then no more of what it showed.
     *
     * @return what it shows now
     */
    Future<Set<Integer>> show(SqlClient connection, Set<Integer> shown) {
        Set<Integer> wanted = numbers;
        return shown.equals(wanted)
                ? Future.succeededFuture(shown)
                : connection
                        .preparedQuery("select pg_advisory_lock_shared($1, n)::text from unnest($2::integer[]) as n"
                                + " union all"
                                + " select pg_advisory_unlock_shared($1, n)::text from unnest($3::integer[]) as n")
                        .execute(Tuple.of(LOCK_CLASS, without(wanted, shown), without(shown, wanted)))
                        .map(wanted);
    }

    private static Integer[] without(Set<Integer> numbers, Set<Integer> others) {
        return numbers.stream().filter(number -> !others.contains(number)).toArray(Integer[]::new);
    }

    private static Future<List<Set<Integer>>> ofAll(SqlClient client) {
        return client.preparedQuery("select array_agg(objid::bigint) from pg_locks where locktype = 'advisory'"
                        + " and classid = $1::bigint::oid and objsubid = 2"
                        + " and database = (select oid from pg_database where datname = current_database())"
                        + " group by pid")
                .execute(Tuple.of((long) LOCK_CLASS))
                .map(rows -> {
                    List<Set<Integer>> servers = new ArrayList<>();
                    rows.forEach(row -> servers.add(Stream.of(row.getArrayOfLongs(0))
                            .map(Long::intValue)
                            .collect(Collectors.toSet())));
                    return servers;
                });
    }
}
