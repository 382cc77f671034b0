package dev.hongbao.engine.writer;

import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.shard.RecoveryRequest;
import dev.hongbao.engine.shard.ShardOwners;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgNotification;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Postgres connection that holds this server's locks and shows its presence, made when it is asked for, and anew after it was
 * lost. It also hears the requests for recovery. When it goes, so do the locks, and other servers may take them at once; a
 * settlement of this one that is still under way is fenced by the cursor. Confined to its event loop.
 */
final class LockConnection {
    private static final Logger LOG = LoggerFactory.getLogger(LockConnection.class);

    /** Longer than any pause that a server at work makes, be it this one or Postgres: then another may own. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private final Postgres postgres;
    private final Presence presence;
    private final SameRedis sameRedis;
    private final Listener listener;
    private @Nullable PgConnection connection;

    /** Of {@link #presence}, by {@link #connection}. */
    private Set<Integer> shown = Set.of();

    private boolean closed;

    /** What the connection hears; called on the event loop. */
    interface Listener {
        /** Somebody misses something. */
        void requested(RecoveryRequest request);

        /** Another server has given up shards. */
        void freed();

        /** The connection is gone, and all locks with it. */
        void lost();
    }

    LockConnection(Postgres postgres, Presence presence, SameRedis sameRedis, Listener listener) {
        this.postgres = postgres;
        this.presence = presence;
        this.sameRedis = sameRedis;
        this.listener = listener;
    }

    /** The connection, with this server's presence as it is now. */
    Future<PgConnection> open() {
        return connected()
                .compose(open -> heard(
                        open,
                        presence.show(open, shown).onSuccess(now -> shown = now).map(open)));
    }

    /** The connection if there is one. */
    @Nullable
    PgConnection current() {
        return connection;
    }

    /** Whether the locks are still those that were taken on a connection. */
    boolean isHeldBy(PgConnection some) {
        return connection == some;
    }

    /** What is asked on the connection; when it fails, the connection is given up. */
    <T> Future<T> heard(PgConnection open, Future<T> asked) {
        return asked.onFailure(fault -> giveUp(open));
    }

    /** Gives the connection up, and all locks with it, until it is opened anew. */
    void giveUp() {
        PgConnection open = connection;
        if (open != null) {
            giveUp(open);
        }
    }

    private void giveUp(PgConnection open) {
        lost(open);
        open.close();
    }

    private Future<PgConnection> connected() {
        PgConnection open = connection;
        if (open != null) {
            return Future.succeededFuture(open);
        }
        // The locks are worth what their connection is: one that is silent is as good as lost, whichever side froze.
        return postgres.connect("locks", SILENCE, SILENCE)
                .compose(fresh -> fresh.query("listen " + RecoveryRequest.CHANNEL + "; listen " + OwnerLocks.FREE
                                + "; set application_name = '" + ShardOwners.ownSession() + "'")
                        .execute()
                        .compose(listening -> presence.begin(fresh))
                        .compose(begun -> sameRedis.join(fresh).map(begun))
                        .onFailure(refused -> fresh.close())
                        .map(begun -> adopt(fresh, begun)));
    }

    private PgConnection adopt(PgConnection fresh, Set<Integer> begun) {
        connection = fresh;
        shown = begun;
        fresh.notificationHandler(heard -> notified(fresh, heard));
        fresh.closeHandler(gone -> lost(fresh));
        return fresh;
    }

    private void notified(PgConnection open, PgNotification heard) {
        if (heard.getChannel().equals(OwnerLocks.FREE)) {
            if (heard.getProcessId() != open.processId()) {
                listener.freed();
            }
            return;
        }
        RecoveryRequest request = RecoveryRequest.decode(heard.getPayload());
        if (request != null) {
            listener.requested(request);
        }
    }

    private void lost(PgConnection gone) {
        if (connection != gone) {
            return;
        }
        connection = null;
        if (!closed) {
            LOG.warn("lost the connection that holds the shards' locks");
        }
        listener.lost();
        if (!closed) {
            // A failover leaves the others dead as well; half, since some were heard when this one was asked already.
            postgres.dropSilent(SILENCE.dividedBy(2));
        }
    }

    /** Gives the locks back; idempotent. */
    Future<Void> close() {
        closed = true;
        PgConnection open = connection;
        return open == null ? Future.succeededFuture() : open.close();
    }
}
