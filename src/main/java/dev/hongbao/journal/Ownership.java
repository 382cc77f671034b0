package dev.hongbao.journal;

import dev.hongbao.postgres.PostgresAddress;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which shards this server owns: session-level advisory locks on a Postgres connection of their own, which also hears the
 * requests for recovery. When the connection goes, so do the locks, and another server may take them at once; a settlement
 * of this one that is still under way is fenced by the cursor. Confined to one event loop.
 */
final class Ownership {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    /** The first key of the advisory locks: "hb", so that they meet no other application's. */
    private static final int LOCK_CLASS = 0x6862;

    private final Vertx vertx;
    private final PostgresAddress address;
    private final Listener listener;
    private final Set<Integer> owned = new HashSet<>();
    private @Nullable PgConnection connection;
    private boolean busy;
    private boolean closed;

    /** What the owner's writer hears; called on the event loop. */
    interface Listener {
        /** Shards that are owned from now on. */
        void acquired(List<Integer> shards);

        /** All locks are gone. */
        void lost();

        /** Somebody misses something. */
        void requested(RecoveryRequest request);
    }

    Ownership(Vertx vertx, PostgresAddress address, Listener listener) {
        this.vertx = vertx;
        this.address = address;
        this.listener = listener;
    }

    boolean isConnected() {
        return connection != null;
    }

    /**
     * Tries to own every shard that is not owned yet, connecting first if need be. Called again and again; calls during one
     * that runs are dropped.
     *
     * @param shards the number of shards
     */
    Future<Void> tryAcquire(int shards) {
        if (busy || closed || owned.size() == shards) {
            return Future.succeededFuture();
        }
        busy = true;
        return connected()
                .compose(open -> lock(open, shards))
                .onComplete(done -> busy = false)
                .mapEmpty();
    }

    private Future<PgConnection> connected() {
        PgConnection open = connection;
        if (open != null) {
            return Future.succeededFuture(open);
        }
        return PgConnection.connect(vertx, address.connectOptions())
                .compose(fresh -> fresh.query("listen " + RecoveryRequest.CHANNEL)
                        .execute()
                        .map(fresh)
                        .onFailure(refused -> fresh.close()))
                .map(this::adopt);
    }

    private PgConnection adopt(PgConnection fresh) {
        connection = fresh;
        fresh.notificationHandler(heard -> {
            RecoveryRequest request = RecoveryRequest.decode(heard.getPayload());
            if (request != null && owned.contains(request.shard())) {
                listener.requested(request);
            }
        });
        fresh.closeHandler(gone -> {
            connection = null;
            owned.clear();
            if (!closed) {
                LOG.warn("lost the connection that holds the shards' locks");
                listener.lost();
            }
        });
        return fresh;
    }

    private Future<Void> lock(PgConnection open, int shards) {
        List<Integer> wanted = new ArrayList<>();
        for (int shard = 0; shard < shards; shard++) {
            if (!owned.contains(shard)) {
                wanted.add(shard);
            }
        }
        return open.preparedQuery("select id from unnest($1::integer[]) as id where pg_try_advisory_lock($2, id)")
                .execute(Tuple.of(wanted.toArray(Integer[]::new), LOCK_CLASS))
                .map(rows -> {
                    List<Integer> won = new ArrayList<>();
                    for (Row row : rows) {
                        won.add(row.getInteger(0));
                    }
                    if (connection == open && !won.isEmpty()) {
                        owned.addAll(won);
                        LOG.info("owns {} of {} shards", owned.size(), shards);
                        listener.acquired(won);
                    }
                    return null;
                });
    }

    /** Gives the locks back; idempotent. */
    Future<Void> close() {
        closed = true;
        PgConnection open = connection;
        return open == null ? Future.succeededFuture() : open.close();
    }
}
