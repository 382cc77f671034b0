package dev.hongbao.engine;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Numbers that a running server shows to the other servers of the database, such as fingerprints of its token keys. They are
 * shared advisory locks on the connection with its shards, taken before them. A stopped server leaves none. A running server may
 * replace its numbers. Thread-safe.
 */
public final class Presence {
    /** The first key of the advisory locks: "hk". */
    private static final int LOCK_CLASS = 0x686b;

    private final Check check;
    private volatile Set<Integer> numbers;

    /** Judges the numbers of all servers. */
    @FunctionalInterface
    public interface Check {
        /**
         * Called whenever the connection is made; on the event loop.
         *
         * @param servers the current numbers of each server, including this one
         * @throws Exception if this server may own no shard beside them
         */
        void look(List<Set<Integer>> servers) throws Exception;
    }

    /**
     * @param numbers to show; may be empty
     * @param check may keep this server from owning shards
     */
    public Presence(Set<Integer> numbers, Check check) {
        this.numbers = Set.copyOf(numbers);
        this.check = check;
    }

    /** Shows nothing, and accepts every other server. */
    public static Presence none() {
        return new Presence(Set.of(), servers -> {});
    }

    /** Replaces the numbers, about a second from now. */
    public void change(Set<Integer> others) {
        numbers = Set.copyOf(others);
    }

    /**
     * Shows the numbers on a new connection until it ends, and checks the other servers. Two servers that do so at the same time
     * see each other.
     *
     * @return the shown numbers; fails as the check does
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
     * Shows the new numbers first, then removes the old ones.
     *
     * @return the shown numbers
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
