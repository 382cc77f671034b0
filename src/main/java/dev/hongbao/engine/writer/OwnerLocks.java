package dev.hongbao.engine.writer;

import dev.hongbao.engine.shard.ShardOwners;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The servers of a database and the shards that each of them owns, as Postgres' advisory locks say. The session that holds a
 * server's locks is what is alive of it: both end together, whether it stopped, was killed or froze. So nothing is left of
 * a dead server, and no clock is asked. Stateless.
 */
final class OwnerLocks {
    /** The Postgres channel on which shards are told that are free. */
    static final String FREE = "hongbao_shards";

    /** The first key of the lock of who moves a shard: "hm". */
    private static final int MOVER = 0x686d;

    private static final String LOCKS = "select pid, classid::bigint, objid::bigint from pg_locks"
            + " where locktype = 'advisory' and granted and objsubid = 2"
            + " and classid in ($1::bigint::oid, $2::bigint::oid)"
            + " and database = (select oid from pg_database where datname = current_database())";

    private OwnerLocks() {}

    /**
     * Who is there, and who owns what, in one moment.
     *
     * @param alive the servers, by the process id of their session, and how many shards each owns
     * @param free shards that no session owns, whether its server is alive or leaving
     */
    record Now(Map<Integer, Integer> alive, Set<Integer> free) {}

    /** The session counts as a server from now on. */
    static Future<Void> join(SqlClient session) {
        return session.preparedQuery("select pg_advisory_lock_shared($1, 0)::text")
                .execute(Tuple.of(ShardOwners.SERVER))
                .mapEmpty();
    }

    /** It counts no more; its shards stay its own. */
    static Future<Void> leave(SqlClient session) {
        return session.preparedQuery("select pg_advisory_unlock_shared($1, 0)")
                .execute(Tuple.of(ShardOwners.SERVER))
                .mapEmpty();
    }

    /** @param shards the number of shards */
    static Future<Now> look(SqlClient session, int shards) {
        return session.preparedQuery(LOCKS)
                .execute(Tuple.of((long) ShardOwners.SHARD, (long) ShardOwners.SERVER))
                .map(rows -> {
                    Map<Integer, Integer> owned = new HashMap<>();
                    Set<Integer> alive = new HashSet<>();
                    Set<Integer> free = new HashSet<>();
                    for (int shard = 0; shard < shards; shard++) {
                        free.add(shard);
                    }
                    for (Row row : rows) {
                        if (row.getLong(1) == ShardOwners.SERVER) {
                            alive.add(row.getInteger(0));
                        } else if (free.remove(row.getLong(2).intValue())) {
                            owned.merge(row.getInteger(0), 1, Integer::sum);
                        }
                    }
                    Map<Integer, Integer> servers = new HashMap<>();
                    alive.forEach(pid -> servers.put(pid, owned.getOrDefault(pid, 0)));
                    return new Now(servers, free);
                });
    }

    /**
     * Takes what is still free of some shards.
     *
     * @param most how many
     */
    static Future<List<Integer>> take(SqlClient session, Collection<Integer> shards, int most) {
        return session.preparedQuery(
                        "select id from unnest($1::integer[]) as id where pg_try_advisory_lock($2, id) limit $3")
                .execute(Tuple.of(shards.toArray(Integer[]::new), ShardOwners.SHARD, (long) most))
                .map(rows -> {
                    List<Integer> won = new ArrayList<>();
                    rows.forEach(row -> won.add(row.getInteger(0)));
                    return won;
                });
    }

    /** Gives shards up and wakes the others. */
    static Future<Void> free(SqlClient session, Collection<Integer> shards) {
        return session.preparedQuery(
                        "select pg_notify($1, ''), pg_advisory_unlock($2, id) from unnest($3::integer[]) as id")
                .execute(Tuple.of(FREE, ShardOwners.SHARD, shards.toArray(Integer[]::new)))
                .mapEmpty();
    }

    /** Whether this session may move a shard now: one does at a time. Until {@link #moved}. */
    static Future<Boolean> mayMove(SqlClient session) {
        return session.preparedQuery("select pg_try_advisory_lock($1, 0)")
                .execute(Tuple.of(MOVER))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** Ends {@link #mayMove}. */
    static Future<Void> moved(SqlClient session) {
        return session.preparedQuery("select pg_advisory_unlock($1, 0)")
                .execute(Tuple.of(MOVER))
                .mapEmpty();
    }
}
