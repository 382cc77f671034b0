package dev.hongbao.engine;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;

/**
 * Ensures that all servers of a database use one Redis and one namespace. Else each would recover the shards in its own, and
 * claims would fail on both. A server that starts beside others looks for the results of their recoveries. A server that starts
 * alone, or beside servers without shards, may use any Redis. Confined to the persistence verticle's event loop.
 */
final class SameRedis {
    /** The time in which the others recover the shards of an emptied Redis, or notice a dead server. */
    private static final Duration WAIT = Duration.ofSeconds(15);

    private static final Duration AGAIN = Duration.ofMillis(250);

    /** The first key of the lock for starting: "hj". */
    private static final int STARTER = 0x686a;

    private static final String OTHERS = "select exists (select from pg_locks where locktype = 'advisory' and granted"
            + " and objsubid = 2 and classid = $1::bigint::oid and pid <> pg_backend_pid()"
            + " and database = (select oid from pg_database where datname = current_database()))";

    private final Loop loop;
    private final ShardStore store;
    private final RedisLinks redis;
    private boolean known;

    SameRedis(Loop loop, ShardStore store, RedisLinks redis) {
        this.loop = loop;
        this.store = store;
        this.redis = redis;
    }

    /**
     * Joins the servers of the database, see {@link OwnerLocks#join}.
     *
     * @return fails with a message for the operator if the others use another Redis
     */
    Future<Void> join(SqlClient session) {
        return known
                ? OwnerLocks.join(session)
                : join(session, loop.nanos() + WAIT.toNanos()).onSuccess(joined -> known = true);
    }

    private Future<Void> join(SqlClient session, long deadlineNanos) {
        boolean isLast = loop.nanos() - deadlineNanos > 0;
        // At the end only servers with shards count: the others have recovered nothing.
        return joinIfSame(session, isLast ? ShardOwners.SHARD : ShardOwners.SERVER)
                .compose(joined -> {
                    if (joined) {
                        return Future.succeededFuture();
                    }
                    return isLast
                            ? Future.failedFuture(new IllegalStateException(
                                    "redis.url, redis.namespace: the other servers of this Postgres work in another"
                                            + " Redis or under another namespace; none of their shards is in this one"
                                            + " under \"" + store.installation().namespace()
                                            + "\". Give all servers the same, or stop the others first"))
                            : loop.pause(AGAIN.toMillis()).compose(later -> join(session, deadlineNanos));
                });
    }

    /**
     * One server at a time: of two that start together, the second sees the first.
     *
     * @param others the class of the locks by which other servers count
     */
    private Future<Boolean> joinIfSame(SqlClient session, int others) {
        return session.preparedQuery("select pg_advisory_lock($1, 0)::text")
                .execute(Tuple.of(STARTER))
                .compose(locked -> session.preparedQuery(OTHERS).execute(Tuple.of((long) others)))
                .compose(rows -> rows.iterator().next().getBoolean(0)
                        ? store.readAll().compose(shards -> ShardRow.isAnyIn(loop, redis, shards))
                        : Future.succeededFuture(true))
                .compose(same -> same ? OwnerLocks.join(session).map(true) : Future.succeededFuture(false))
                .eventually(() -> session.preparedQuery("select pg_advisory_unlock($1, 0)")
                        .execute(Tuple.of(STARTER)));
    }
}
