package dev.hongbao.engine;

import dev.hongbao.store.postgres.Sessions;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgNotification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards that this server owns: session-level advisory locks in Postgres, on a connection that also shows this server's
 * presence and receives the requests for recovery. The connection is made on demand, and anew after a loss. A loss frees the
 * locks, and other servers may take them at once. The cursor then fences a settlement of this server that is still under way.
 * {@link ShardQuota} computes how many shards this server takes and when it gives one up.
 *
 * <pre>
 *        SHARING ─── leave ──▶ LEAVING ─── close ──▶ CLOSED
 *           └──────── close, by a server that is alone ──▲
 * </pre>
 *
 * Confined to its event loop.
 */
final class Ownership {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    /** Between two looks at the servers and the free shards. */
    private static final Duration BEAT = Duration.ofMillis(200);

    /** After so long a free shard is taken even by a server that has its part already: some server is alive and does not work. */
    private static final Duration ABANDONED = Duration.ofSeconds(1);

    /** The wait for another server to take a shard that was given up; then this server may take it back. */
    private static final Duration TAKEN = Duration.ofMillis(200);

    private static final long RETRY_MILLIS = 10;

    /** Longer than any pause of a healthy server or a healthy Postgres. After it another server may own the shards. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    /** Shards move one after the other. The log gets one line after so long without a move. */
    private static final Duration AT_REST = Duration.ofSeconds(1);

    private final Loop loop;
    private final Sessions postgres;
    private final Presence presence;
    private final SameRedis sameRedis;
    private final WriterConnection writer;
    private final int shards;
    private final ShardSupervisor supervisor;
    private final JournalMetrics metrics;
    private final ShardQuota shares;
    private final Set<Integer> owned = new TreeSet<>();
    private final Map<Integer, Long> freeSinceNanos = new HashMap<>();

    /** The owned shards in the last line of the log; null before the first line. */
    private @Nullable Set<Integer> logged;

    private long changedNanos;

    /** The shard that was given up last, while it moves; null for none. */
    private @Nullable Integer onItsWay;

    private Phase phase = Phase.SHARING;
    private Look look = Look.NONE;
    private long lookedNanos;

    /** Whether the last look failed; the log has said so. */
    private boolean away;

    /** Whether this server gives up its excess, shard after shard. */
    private boolean moving;

    /** The connection with the locks; null while there is none. */
    private @Nullable PgConnection connection;

    /** The part of {@link #presence} that the connection shows. */
    private Set<Integer> shown = Set.of();

    private enum Phase {
        /** Takes this server's part of the shards, and gives up the excess. */
        SHARING,
        /** Takes no more, and hands over the rest: the server stops. */
        LEAVING,
        /** The locks are released. */
        CLOSED
    }

    private enum Look {
        NONE,
        UNDER_WAY,
        /** A shard became free meanwhile: another look follows at once. */
        FOLLOWED
    }

    /**
     * @param presence the numbers that the connection shows before it locks any shard
     * @param sameRedis joins this server to the others
     * @param writer must answer before a connection may lock shards
     * @param shards the number of shards
     */
    Ownership(
            Loop loop,
            Sessions postgres,
            Presence presence,
            SameRedis sameRedis,
            WriterConnection writer,
            int shards,
            ShardSupervisor supervisor,
            JournalMetrics metrics) {
        this.loop = loop;
        this.postgres = postgres;
        this.presence = presence;
        this.sameRedis = sameRedis;
        this.writer = writer;
        this.shards = shards;
        this.supervisor = supervisor;
        this.metrics = metrics;
        this.shares = new ShardQuota(shards, loop::nanos);
        this.changedNanos = loop.nanos();
        this.lookedNanos = loop.nanos() - BEAT.toNanos();
    }

    /**
     * Looks at the servers and the free shards, and connects first if necessary. Takes this server's part, or begins to give up
     * the excess. Called periodically; calls during a look, or soon after it, are dropped.
     */
    Future<Void> beat() {
        return look != Look.NONE || loop.nanos() - lookedNanos < BEAT.toNanos()
                ? Future.succeededFuture()
                : lookAround();
    }

    private Future<Void> lookAround() {
        if (phase != Phase.SHARING) {
            return Future.succeededFuture();
        }
        look = Look.UNDER_WAY;
        lookedNanos = loop.nanos();
        return ableToSettle()
                .compose(able -> phase == Phase.SHARING ? takePart() : Future.succeededFuture())
                .onComplete(done -> {
                    boolean followed = look == Look.FOLLOWED;
                    look = Look.NONE;
                    if (done.failed() && !away) {
                        LOG.warn(
                                "this server owns no shards, since it cannot lock them in Postgres; it tries again: {}",
                                done.cause().getMessage());
                    }
                    away = done.failed();
                    logWhenAtRest();
                    if (followed) {
                        var unused = lookAround();
                    }
                });
    }

    /** Logs nothing for a single server that owns every shard from its start: an operator expects that. */
    private void logWhenAtRest() {
        if (owned.equals(logged) || phase != Phase.SHARING || loop.nanos() - changedNanos < AT_REST.toNanos()) {
            return;
        }
        if (logged != null || owned.size() < shards || !isAlone()) {
            LOG.info("owns {} of {} shards, one of {} servers: {}", owned.size(), shards, shares.servers(), owned);
        }
        logged = Set.copyOf(owned);
    }

    private Future<Void> takePart() {
        return connected()
                .compose(open -> heard(
                        open,
                        presence.show(open, shown)
                                .onSuccess(now -> shown = now)
                                .compose(showing -> seen(open))
                                .compose(now -> take(open, now))
                                .onSuccess(taken -> move(open))));
    }

    /**
     * A server that cannot settle does not join, and gives up its shards: another server could serve them. A server that is alone
     * keeps them.
     */
    private Future<Void> ableToSettle() {
        PgConnection open = connection;
        if (open == null) {
            return writer.ask();
        }
        if (!writer.isDoubted() || isAlone()) {
            return Future.succeededFuture();
        }
        return writer.ask().onFailure(fault -> {
            LOG.error("gives up {} of {} shards: it has no connection to settle them", owned.size(), shards);
            giveUp(open);
        });
    }

    private Future<OwnerLocks.Now> seen(PgConnection open) {
        return OwnerLocks.look(open, shards).onSuccess(now -> {
            shares.seen(now.alive());
            metrics.servers.set(shares.servers());
            long nanos = loop.nanos();
            freeSinceNanos.keySet().retainAll(now.free());
            now.free().forEach(shard -> freeSinceNanos.putIfAbsent(shard, nanos));
        });
    }

    private Future<Void> take(PgConnection open, OwnerLocks.Now now) {
        int room = shares.room(owned.size());
        List<Integer> wanted = new ArrayList<>(room > 0 ? now.free() : abandoned());
        wanted.remove(onItsWay);
        if (wanted.isEmpty() || phase != Phase.SHARING) {
            return Future.succeededFuture();
        }
        Collections.rotate(wanted, open.processId()); // servers that look at the same time begin with different shards
        int most = room > 0 ? room : wanted.size();
        // The link may have died while this server owned nothing. A server that is alone takes its shards even so.
        Future<List<Integer>> servable =
                isAlone() ? Future.succeededFuture(wanted) : supervisor.whereRedisAnswers(wanted);
        return servable.compose(some -> some.isEmpty() || phase != Phase.SHARING
                ? Future.succeededFuture()
                : OwnerLocks.take(open, some, most).map(won -> {
                    if (connection == open && !won.isEmpty()) {
                        owned.addAll(won);
                        supervisor.owns(owned);
                        metrics.taken.increment(won.size());
                        changedNanos = loop.nanos();
                        LOG.debug("took the shards {}", won);
                        supervisor.acquired(won);
                    }
                    return null;
                }));
    }

    private List<Integer> abandoned() {
        long now = loop.nanos();
        return freeSinceNanos.entrySet().stream()
                .filter(free -> now - free.getValue() > ABANDONED.toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Gives up the excess over this server's part, one shard after the other, while no other server does. */
    private void move(PgConnection open) {
        if (moving || phase != Phase.SHARING || !shares.isTooMany(open.processId())) {
            return;
        }
        moving = true;
        heard(
                        open,
                        OwnerLocks.mayMove(open)
                                .compose(may -> may
                                        ? moveOn(open).eventually(() -> OwnerLocks.moved(open))
                                        : Future.succeededFuture()))
                .onComplete(done -> {
                    moving = false;
                    onItsWay = null;
                });
    }

    private Future<Void> moveOn(PgConnection open) {
        return seen(open).compose(now -> {
            Integer shard = shares.isTooMany(open.processId()) ? oneLive() : null;
            if (shard == null || phase != Phase.SHARING) {
                return Future.succeededFuture();
            }
            onItsWay = shard;
            long sinceNanos = loop.nanos();
            return handOver(open, List.of(shard))
                    .compose(given -> given.isEmpty() ? Future.succeededFuture() : awaitTaken(open, shard, sinceNanos));
        });
    }

    /** One of the owned shards that may be handed over now; null for none. */
    private @Nullable Integer oneLive() {
        return supervisor.live().stream().filter(owned::contains).findFirst().orElse(null);
    }

    private Future<Void> awaitTaken(PgConnection open, int shard, long sinceNanos) {
        return seen(open).compose(now -> {
            if (!now.free().contains(shard)) {
                return moveOn(open);
            }
            if (loop.nanos() - sinceNanos > TAKEN.toNanos()) {
                LOG.debug("nobody took shard {}", shard);
                shares.movedInVain();
                return Future.succeededFuture();
            }
            return loop.pause(RETRY_MILLIS).compose(later -> awaitTaken(open, shard, sinceNanos));
        });
    }

    private Future<List<Integer>> handOver(PgConnection open, Collection<Integer> some) {
        return supervisor.rest(some).compose(resting -> {
            if (connection != open || resting.isEmpty()) {
                return Future.succeededFuture(List.of());
            }
            owned.removeAll(resting);
            supervisor.owns(owned);
            metrics.handedOver.increment(resting.size());
            changedNanos = loop.nanos();
            LOG.debug("handed over the shards {}", resting);
            return OwnerLocks.free(open, resting).map(resting);
        });
    }

    /** Whether no other server could take a shard from this one. */
    boolean isAlone() {
        return shares.servers() == 1;
    }

    /** Takes no more shards, and hands over all that are live or become so. Completes when none is left. */
    Future<Void> leave() {
        if (phase == Phase.CLOSED) {
            return Future.succeededFuture();
        }
        phase = Phase.LEAVING;
        PgConnection open = connection;
        return open == null ? Future.succeededFuture() : OwnerLocks.leave(open).compose(left -> handOverAll(open));
    }

    private Future<Void> handOverAll(PgConnection open) {
        if (phase == Phase.CLOSED || connection != open || owned.isEmpty()) {
            return Future.succeededFuture();
        }
        return handOver(open, List.copyOf(owned))
                .compose(given -> loop.pause(RETRY_MILLIS))
                .compose(later -> handOverAll(open));
    }

    /** Releases the locks; idempotent. */
    Future<Void> close() {
        phase = Phase.CLOSED;
        PgConnection open = connection;
        return open == null ? Future.succeededFuture() : open.close();
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
                        .map(begun -> {
                            connection = fresh;
                            shown = begun;
                            fresh.notificationHandler(heard -> notified(fresh, heard));
                            fresh.closeHandler(gone -> lost(fresh));
                            return fresh;
                        }));
    }

    /** Passes a question's answer on; if it fails, gives the connection up. */
    private <T> Future<T> heard(PgConnection open, Future<T> asked) {
        return asked.onFailure(fault -> giveUp(open));
    }

    private void notified(PgConnection open, PgNotification heard) {
        if (heard.getChannel().equals(OwnerLocks.FREE)) {
            if (heard.getProcessId() == open.processId()) {
                return;
            }
            if (look == Look.NONE) {
                var unused = lookAround();
            } else {
                look = Look.FOLLOWED;
            }
            return;
        }
        RecoveryRequest request = RecoveryRequest.decode(heard.getPayload());
        if (request != null && owned.contains(request.shard())) {
            supervisor.requested(request);
        }
    }

    private void giveUp(PgConnection open) {
        lost(open);
        open.close();
    }

    /** The connection is gone, and all locks with it. */
    private void lost(PgConnection gone) {
        if (connection != gone) {
            return;
        }
        connection = null;
        owned.clear();
        logged = Set.of();
        changedNanos = loop.nanos();
        supervisor.owns(owned);
        if (phase != Phase.CLOSED) {
            LOG.warn("lost the connection that holds the shards' locks");
            supervisor.lost();
            // A failover kills the other connections, too. Half of the time, since some received data when this one
            // already waited.
            postgres.dropSilent(SILENCE.dividedBy(2));
        }
    }

    /**
     * The number of shards that each running server should own. Free shards are taken up to an equal part. An owned shard moves only
     * to a server with at least two fewer that has been there for a while. Servers that come and go make that time longer, so that
     * shards do not move with each of them. A quota is advice only; the locks decide. Confined to its event loop.
     */
    static final class ShardQuota {
        /** The time from a server's arrival until shards move to it: longer than a failing start. */
        static final Duration SETTLING_IN = Duration.ofSeconds(2);

        /** The longest value of that time, after servers that came and went. */
        static final Duration MOST = Duration.ofMinutes(5);

        /** A server that leaves sooner came in vain. One such visit is forgotten after each period of this length. */
        static final Duration VISIT = Duration.ofMinutes(1);

        private final int shards;
        private final LongSupplier nanoTime;
        private final Map<Integer, Long> sinceNanos = new HashMap<>();
        private Map<Integer, Integer> owned = Map.of();
        private int inVain;
        private long inVainNanos;

        /**
         * @param shards how many there are
         * @param nanoTime as {@link System#nanoTime}
         */
        ShardQuota(int shards, LongSupplier nanoTime) {
            this.shards = shards;
            this.nanoTime = nanoTime;
        }

        /**
         * Updates the view of the servers.
         *
         * @param ownedByServer the number of shards of each running server, also 0
         */
        void seen(Map<Integer, Integer> ownedByServer) {
            long now = nanoTime.getAsLong();
            owned = Map.copyOf(ownedByServer);
            owned.keySet().forEach(server -> sinceNanos.putIfAbsent(server, now));
            sinceNanos.entrySet().removeIf(server -> {
                boolean gone = !owned.containsKey(server.getKey());
                if (gone && now - server.getValue() < VISIT.toNanos()) {
                    movedInVain();
                }
                return gone;
            });
            while (inVain > 0 && now - inVainNanos >= VISIT.toNanos()) {
                inVain--;
                inVainNanos += VISIT.toNanos();
            }
        }

        /** Notes a shard that was given up in vain, or a server that came in vain: the next shard moves later. */
        void movedInVain() {
            inVain = Math.min(inVain + 1, 16);
            inVainNanos = nanoTime.getAsLong();
        }

        /** The number of running servers, this one among them; at least 1. */
        int servers() {
            return Math.max(1, owned.size());
        }

        /** The number of shards that a server with {@code mine} shards may still take; 0 or more. */
        int room(int mine) {
            return Math.max(0, (shards + servers() - 1) / servers() - mine);
        }

        /**
         * Whether one of this server's shards should move to another server.
         *
         * @param me the pid of this server's session
         */
        boolean isTooMany(int me) {
            long now = nanoTime.getAsLong();
            int mine = owned.getOrDefault(me, 0);
            return owned.entrySet().stream()
                    .anyMatch(server -> server.getValue() <= mine - 2
                            && now - sinceNanos.getOrDefault(server.getKey(), now) >= settlingIn());
        }

        private long settlingIn() {
            return Math.min(MOST.toNanos(), SETTLING_IN.toNanos() << inVain);
        }
    }
}
