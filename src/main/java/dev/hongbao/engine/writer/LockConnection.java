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
 * The Postgres connection that holds this server's locks, shows its presence, and receives the requests for recovery. It is made
 * on demand, and anew after a loss. A loss frees the locks, and other servers may take them at once. The cursor then fences a
 * settlement of this server that is still under way. Confined to its event loop.
 */
final class LockConnection {
    private static final Logger LOG = LoggerFactory.getLogger(LockConnection.class);

    /** Longer than any pause of a healthy server or a healthy Postgres. After it another server may own the shards. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private final Postgres postgres;
    private final Presence presence;
    private final SameRedis sameRedis;
    private final Listener listener;
    private @Nullable PgConnection connection;

    /** The part of {@link #presence} that {@link #connection} shows. */
    private Set<Integer> shown = Set.of();

    private boolean closed;

    /** Receives the connection's events, on the event loop. */
    interface Listener {
        /** A server reports a symptom. */
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

    /** The connection, made if there is none. It shows this server's current presence. */
    Future<PgConnection> open() {
        return connected()
                .compose(open -> heard(
                        open,
                        presence.show(open, shown).onSuccess(now -> shown = now).map(open)));
    }

    /** The connection; null if there is none. */
    @Nullable
    PgConnection current() {
        return connection;
    }

    /** Whether the locks that were taken on a connection are still held. */
    boolean isHeldBy(PgConnection some) {
        return connection == some;
    }

    /** Passes a question's answer on; if it fails, gives the connection up. */
    <T> Future<T> heard(PgConnection open, Future<T> asked) {
        return asked.onFailure(fault -> giveUp(open));
    }

    /** Gives up the connection with all locks. {@link #open} makes a new one. */
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
        // A silent connection counts as lost, whichever side froze: the locks live no longer than it.
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
            // A failover kills the other connections, too. Half of the time, since some received data when this one
            // already waited.
            postgres.dropSilent(SILENCE.dividedBy(2));
        }
    }

    /** Releases the locks; idempotent. */
    Future<Void> close() {
        closed = true;
        PgConnection open = connection;
        return open == null ? Future.succeededFuture() : open.close();
    }
}
