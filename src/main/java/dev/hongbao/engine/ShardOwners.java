package dev.hongbao.engine;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.lang.management.ManagementFactory;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a database and their shards, for operators. The sessions that hold the advisory locks show them, so a server is
 * visible as long as its session lives. Thread-safe.
 */
public final class ShardOwners {
    /** The first key of the shards' locks, "hb"; the second one is the shard. */
    public static final int SHARD = 0x6862;

    /** The first key of the lock that all servers share which take shards, "hs". */
    public static final int SERVER = 0x6873;

    private static final String LOCKS =
            "select l.pid, l.classid::bigint as class, l.objid::bigint as shard from pg_locks as l"
                    + " where l.locktype = 'advisory' and l.granted and l.objsubid = 2"
                    + " and l.classid in ($1::bigint::oid, $2::bigint::oid)"
                    + " and l.database = (select oid from pg_database where datname = current_database())";

    /** The prefix of a session's application name; the server's name follows. */
    private static final String SESSION = "hongbao ";

    /** Postgres cuts longer names. */
    private static final int LONGEST = 63;

    private static final String NAME = "case when a.application_name like '" + SESSION
            + "%' then substr(a.application_name, " + (SESSION.length() + 1) + ") end as name";

    private static final String SERVERS = "with lock as (" + LOCKS + ")"
            + " select s.pid, " + NAME + ", host(a.client_addr) as address, a.backend_start as since, (select count(*)"
            + " from lock as o where o.pid = s.pid and o.class = $1) as shards from lock as"
            + " s left join pg_stat_activity as a on a.pid = s.pid where s.class = $2 order"
            + " by a.backend_start, s.pid";

    private static final String SHARDS = "with lock as (" + LOCKS + ")"
            + " select s.id, s.epoch, s.last_seq, o.pid, o.name,"
            + " (select count(*) from quarantine_unit as q where q.shard = s.id) as aside"
            // Another client that holds a lock settles nothing. Every role may see a session's application name.
            + " from shard as s left join (select o.class, o.shard, o.pid, " + NAME
            + " from lock as o join pg_stat_activity as a on a.pid = o.pid and a.application_name like 'hongbao%') as o"
            + " on o.class = $1 and o.shard = s.id order by s.id";

    private final Pool pool;

    /**
     * A running server.
     *
     * @param session the pid of its session in Postgres
     * @param name its pid and host; null if it does not report them
     * @param address its client address; null if Postgres does not show it
     * @param since the time of its connection; null if Postgres does not show it
     * @param shards the number of its shards
     */
    public record Server(
            int session,
            @Nullable String name,
            @Nullable String address,
            @Nullable OffsetDateTime since,
            long shards) {}

    /**
     * A shard.
     *
     * @param epoch of its generation; it grows with each recovery
     * @param settled the last settled journal entry of the generation
     * @param aside its packets, draws and campaigns that are set aside
     * @param session the session of its owner; null without an owner
     * @param server the owner's name; null without an owner, or if it does not report one
     */
    public record Owned(
            int shard,
            long epoch,
            long settled,
            long aside,
            @Nullable Integer session,
            @Nullable String server) {}

    public ShardOwners(Pool pool) {
        this.pool = pool;
    }

    /**
     * The application name of the session that holds this server's locks. It has only letters, digits and marks that need no
     * quotes.
     */
    public static String ownSession() {
        String name = SESSION + ManagementFactory.getRuntimeMXBean().getName().replaceAll("[^A-Za-z0-9@._-]", "_");
        return name.substring(0, Math.min(LONGEST, name.length()));
    }

    /** The servers that take shards now, the longest connected first. */
    public Future<List<Server>> servers() {
        return pool.preparedQuery(SERVERS)
                .execute(Tuple.of((long) SHARD, (long) SERVER))
                .map(rows -> rows.stream()
                        .map(row -> new Server(
                                row.getInteger("pid"),
                                row.getString("name"),
                                row.getString("address"),
                                row.getOffsetDateTime("since"),
                                row.getLong("shards")))
                        .toList());
    }

    /** All shards, by number. */
    public Future<List<Owned>> shards() {
        return pool.preparedQuery(SHARDS)
                .execute(Tuple.of((long) SHARD, (long) SERVER))
                .map(rows -> rows.stream()
                        .map(row -> new Owned(
                                row.getInteger("id"),
                                row.getLong("epoch"),
                                row.getLong("last_seq"),
                                row.getLong("aside"),
                                row.getInteger("pid"),
                                row.getString("name")))
                        .toList());
    }
}
