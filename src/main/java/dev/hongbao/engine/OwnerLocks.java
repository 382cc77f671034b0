package dev.hongbao.engine;

import dev.hongbao.store.postgres.Rows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The servers of a database and their shards, as Postgres' advisory locks. A server lives as long as the session with its locks:
 * both end together if the server stops, is killed or freezes. So a dead server leaves nothing behind, and no clock is involved.
 * Stateless.
 */
final class OwnerLocks {
    /** The Postgres channel that announces free shards. */
    static final String FREE = "hongbao_shards";

    /** The first key of the lock for moving a shard: "hm". */
    private static final int MOVER = 0x686d;

    private static final String LOCKS = "select pid, classid::bigint, objid::bigint from pg_locks"
            + " where locktype = 'advisory' and granted and objsubid = 2"
            + " and classid in ($1::bigint::oid, $2::bigint::oid)"
            + " and database = (select oid from pg_database where datname = current_database())";

    private OwnerLocks() {}

    /**
     * The servers and the owners of the shards, at one moment.
     *
     * @param alive the number of shards of each server, by the pid of its session
     * @param free shards without an owner; a leaving server still owns its shards
     */
    record Now(Map<Integer, Integer> alive, Set<Integer> free) {}

    /** Counts the session as a server from now on. */
    static Future<Void> join(SqlClient session) {
        return session.preparedQuery("select pg_advisory_lock_shared($1, 0)::text")
                .execute(Tuple.of(ShardOwners.SERVER))
                .mapEmpty();
    }

    /** Counts the session as a server no longer; it keeps its shards. */
    static Future<Void> leave(SqlClient session) {
        return session.preparedQuery("select pg_advisory_unlock_shared($1, 0)")
                .execute(Tuple.of(ShardOwners.SERVER))
                .mapEmpty();
    }

    /**
     * Reads the locks.
     *
     * @param shards the number of shards
     */
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
     * Takes the free ones of some shards.
     *
     * @param most the limit of shards to take
     */
    static Future<List<Integer>> take(SqlClient session, Collection<Integer> shards, int most) {
        return session.preparedQuery(
                        "select id from unnest($1::integer[]) as id where pg_try_advisory_lock($2, id) limit $3")
                .execute(Tuple.of(shards.toArray(Integer[]::new), ShardOwners.SHARD, (long) most))
                .map(rows -> Rows.list(rows, row -> row.getInteger(0)));
    }

    /** Gives shards up and wakes the other servers. */
    static Future<Void> free(SqlClient session, Collection<Integer> shards) {
        return session.preparedQuery(
                        "select pg_notify($1, ''), pg_advisory_unlock($2, id) from unnest($3::integer[]) as id")
                .execute(Tuple.of(FREE, ShardOwners.SHARD, shards.toArray(Integer[]::new)))
                .mapEmpty();
    }

    /** Whether this session may move a shard now: one session does at a time. Lasts until {@link #moved}. */
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
