package dev.hongbao.engine.writer;

import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.shard.RecoveryRequest;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
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

    private static final Duration HEARTBEAT = Duration.ofSeconds(1);

    /** Longer than any pause that a server at work makes, be it this one or Postgres: then another may own. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private final Postgres postgres;
    private final Presence presence;
    private final Listener listener;
    private final Set<Integer> owned = new HashSet<>();
    private @Nullable PgConnection connection;

    /** Of {@link #presence}, by {@link #connection}. */
    private Set<Integer> shown = Set.of();

    private long heardNanos;
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

    /** @param presence what the connection shows before it locks any shard */
    Ownership(Postgres postgres, Presence presence, Listener listener) {
        this.postgres = postgres;
        this.presence = presence;
        this.listener = listener;
    }

    /**
     * Tries to own every shard that is not owned yet, connecting first if need be; once all are owned, asks now and then whether the
     * connection still stands. Called again and again; calls during one that runs are dropped.
     *
     * @param shards the number of shards
     */
    Future<Void> tryAcquire(int shards) {
        boolean complete = owned.size() == shards;
        if (busy || closed || (complete && System.nanoTime() - heardNanos < HEARTBEAT.toNanos())) {
            return Future.succeededFuture();
        }
        busy = true;
        return connected()
                .compose(open -> heard(
                        open,
                        presence.show(open, shown)
                                .onSuccess(now -> shown = now)
                                .compose(now -> complete
                                        ? open.query("select 1").execute().mapEmpty()
                                        : lock(open, shards))))
                .onComplete(done -> busy = false);
    }

    private Future<Void> heard(PgConnection open, Future<Void> asked) {
        return asked.onSuccess(answered -> heardNanos = System.nanoTime()).onFailure(fault -> {
            lost(open);
            open.close();
        });
    }

    private Future<PgConnection> connected() {
        PgConnection open = connection;
        if (open != null) {
            return Future.succeededFuture(open);
        }
        // The locks are worth what their connection is: one that is silent is as good as lost, whichever side froze.
        return postgres.connect("locks", SILENCE, SILENCE)
                .compose(fresh -> fresh.query("listen " + RecoveryRequest.CHANNEL)
                        .execute()
                        .compose(listening -> presence.begin(fresh))
                        .onFailure(refused -> fresh.close())
                        .map(begun -> adopt(fresh, begun)));
    }

    private PgConnection adopt(PgConnection fresh, Set<Integer> begun) {
        connection = fresh;
        shown = begun;
        fresh.notificationHandler(heard -> {
            RecoveryRequest request = RecoveryRequest.decode(heard.getPayload());
            if (request != null && owned.contains(request.shard())) {
                listener.requested(request);
            }
        });
        fresh.closeHandler(gone -> lost(fresh));
        return fresh;
    }

    private void lost(PgConnection gone) {
        if (connection != gone) {
            return;
        }
        connection = null;
        owned.clear();
        if (!closed) {
            LOG.warn("lost the connection that holds the shards' locks");
            listener.lost();
            // A failover leaves the others dead as well; half, since some were heard when this one was asked already.
            postgres.dropSilent(SILENCE.dividedBy(2));
        }
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
