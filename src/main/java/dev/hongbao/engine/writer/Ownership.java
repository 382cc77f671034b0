package dev.hongbao.engine.writer;

import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.shard.RecoveryRequest;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards that this server owns: session-level advisory locks on a {@link LockConnection}. {@link ShardQuota} computes how
 * many it takes and when it gives one up. Confined to its event loop.
 */
final class Ownership implements LockConnection.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    /** Between two looks at the servers and the free shards. */
    private static final Duration BEAT = Duration.ofMillis(200);

    /** After so long a free shard is taken even by a server that has its part already: some server is alive and does not work. */
    private static final Duration ABANDONED = Duration.ofSeconds(1);

    /** The wait for another server to take a shard that was given up; then this server may take it back. */
    private static final Duration TAKEN = Duration.ofMillis(200);

    private static final long RETRY_MILLIS = 10;

    /** Shards move one after the other. The log gets one line after so long without a move. */
    private static final Duration AT_REST = Duration.ofSeconds(1);

    private final Vertx vertx;
    private final LockConnection locks;
    private final WriterConnection writer;
    private final int shards;
    private final HandOver handOver;
    private final JournalMetrics metrics;
    private final Listener listener;
    private final ShardQuota shares;
    private final Set<Integer> owned = new TreeSet<>();
    private final Map<Integer, Long> freeSinceNanos = new HashMap<>();

    /** The owned shards in the last line of the log; null before the first line. */
    private @Nullable Set<Integer> logged;

    private long changedNanos = System.nanoTime();

    /** The shard that was given up last, while it moves; null for none. */
    private @Nullable Integer onItsWay;

    private long lookedNanos = System.nanoTime() - BEAT.toNanos();
    private boolean busy;
    private boolean again;
    private boolean away;
    private boolean moving;
    private boolean leaving;
    private boolean closed;

    /** Receives the changes, on the event loop. */
    interface Listener {
        /** Shards that are owned from now on. */
        void acquired(List<Integer> shards);

        /** All locks are gone. */
        void lost();

        /** The complete set of owned shards. */
        void owns(Set<Integer> shards);

        /** A server reports a symptom of an owned shard. */
        void requested(RecoveryRequest request);
    }

    /**
     * @param presence the numbers that the connection shows before it locks any shard
     * @param sameRedis joins this server to the others
     * @param writer must answer before a connection may lock shards
     * @param shards the number of shards
     */
    Ownership(
            Vertx vertx,
            Postgres postgres,
            Presence presence,
            SameRedis sameRedis,
            WriterConnection writer,
            int shards,
            HandOver handOver,
            JournalMetrics metrics,
            Listener listener) {
        this.vertx = vertx;
        this.locks = new LockConnection(postgres, presence, sameRedis, this);
        this.writer = writer;
        this.shards = shards;
        this.handOver = handOver;
        this.metrics = metrics;
        this.listener = listener;
        this.shares = new ShardQuota(shards, System::nanoTime);
    }

    /**
     * Looks at the servers and the free shards, and connects first if necessary. Takes this server's part, or begins to give up
     * the excess. Called periodically; calls during a look, or soon after it, are dropped.
     */
    Future<Void> beat() {
        return busy || System.nanoTime() - lookedNanos < BEAT.toNanos() ? Future.succeededFuture() : look();
    }

    private Future<Void> look() {
        if (closed || leaving) {
            return Future.succeededFuture();
        }
        busy = true;
        again = false;
        lookedNanos = System.nanoTime();
        return ableToSettle()
                .compose(able -> closed || leaving ? Future.succeededFuture() : takePart())
                .onComplete(done -> {
                    busy = false;
                    if (done.failed() && !away) {
                        LOG.warn(
                                "no connection for the locks, trying again: {}",
                                done.cause().getMessage());
                    }
                    away = done.failed();
                    logWhenAtRest();
                    if (again) {
                        var unused = look();
                    }
                });
    }

    /** Logs nothing for a single server that owns every shard from its start: an operator expects that. */
    private void logWhenAtRest() {
        if (owned.equals(logged) || leaving || System.nanoTime() - changedNanos < AT_REST.toNanos()) {
            return;
        }
        if (logged != null || owned.size() < shards || !isAlone()) {
            LOG.info("owns {} of {} shards, one of {} servers: {}", owned.size(), shards, shares.servers(), owned);
        }
        logged = Set.copyOf(owned);
    }

    private Future<Void> takePart() {
        return locks.open()
                .compose(open -> locks.heard(
                        open, seen(open).compose(now -> take(open, now)).onSuccess(taken -> move(open))));
    }

    /**
     * A server that cannot settle does not join, and gives up its shards: another server could serve them. A server that is alone
     * keeps them.
     */
    private Future<Void> ableToSettle() {
        if (locks.current() == null) {
            return writer.ask();
        }
        if (!writer.isDoubted() || isAlone()) {
            return Future.succeededFuture();
        }
        return writer.ask().onFailure(fault -> {
            LOG.error("gives up {} of {} shards: it has no connection to settle them", owned.size(), shards);
            locks.giveUp();
        });
    }

    /** Looks at once. */
    @Override
    public void freed() {
        again = busy;
        if (!busy) {
            var unused = look();
        }
    }

    @Override
    public void requested(RecoveryRequest request) {
        if (owned.contains(request.shard())) {
            listener.requested(request);
        }
    }

    @Override
    public void lost() {
        owned.clear();
        logged = Set.of();
        changedNanos = System.nanoTime();
        listener.owns(owned);
        if (!closed) {
            listener.lost();
        }
    }

    private Future<OwnerLocks.Now> seen(PgConnection open) {
        return OwnerLocks.look(open, shards).onSuccess(now -> {
            shares.seen(now.alive());
            metrics.servers.set(shares.servers());
            long nanos = System.nanoTime();
            freeSinceNanos.keySet().retainAll(now.free());
            now.free().forEach(shard -> freeSinceNanos.putIfAbsent(shard, nanos));
        });
    }

    private Future<Void> take(PgConnection open, OwnerLocks.Now now) {
        int room = shares.room(owned.size());
        List<Integer> wanted = new ArrayList<>(room > 0 ? now.free() : abandoned());
        wanted.remove(onItsWay);
        if (wanted.isEmpty() || leaving) {
            return Future.succeededFuture();
        }
        Collections.rotate(wanted, open.processId()); // servers that look at the same time begin with different shards
        return OwnerLocks.take(open, wanted, room > 0 ? room : wanted.size()).map(won -> {
            if (locks.isHeldBy(open) && !won.isEmpty()) {
                owned.addAll(won);
                listener.owns(owned);
                metrics.taken.increment(won.size());
                changedNanos = System.nanoTime();
                LOG.debug("took the shards {}", won);
                listener.acquired(won);
            }
            return null;
        });
    }

    private List<Integer> abandoned() {
        long now = System.nanoTime();
        return freeSinceNanos.entrySet().stream()
                .filter(free -> now - free.getValue() > ABANDONED.toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Gives up the excess over this server's part, one shard after the other, while no other server does. */
    private void move(PgConnection open) {
        if (moving || leaving || !shares.isTooMany(open.processId())) {
            return;
        }
        moving = true;
        locks.heard(
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
            Integer shard = shares.isTooMany(open.processId()) ? handOver.choice(owned) : null;
            if (shard == null || leaving) {
                return Future.succeededFuture();
            }
            onItsWay = shard;
            long sinceNanos = System.nanoTime();
            return giveUp(open, List.of(shard))
                    .compose(given -> given.isEmpty() ? Future.succeededFuture() : awaitTaken(open, shard, sinceNanos));
        });
    }

    private Future<Void> awaitTaken(PgConnection open, int shard, long sinceNanos) {
        return seen(open).compose(now -> {
            if (!now.free().contains(shard)) {
                return moveOn(open);
            }
            if (System.nanoTime() - sinceNanos > TAKEN.toNanos()) {
                LOG.debug("nobody took shard {}", shard);
                shares.movedInVain();
                return Future.succeededFuture();
            }
            return vertx.timer(RETRY_MILLIS, TimeUnit.MILLISECONDS)
                    .compose(later -> awaitTaken(open, shard, sinceNanos));
        });
    }

    private Future<List<Integer>> giveUp(PgConnection open, Collection<Integer> some) {
        return handOver.rest(some).compose(resting -> {
            if (!locks.isHeldBy(open) || resting.isEmpty()) {
                return Future.succeededFuture(List.of());
            }
            owned.removeAll(resting);
            listener.owns(owned);
            metrics.handedOver.increment(resting.size());
            changedNanos = System.nanoTime();
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
        leaving = true;
        PgConnection open = locks.current();
        return open == null ? Future.succeededFuture() : OwnerLocks.leave(open).compose(left -> handOverAll(open));
    }

    private Future<Void> handOverAll(PgConnection open) {
        if (closed || !locks.isHeldBy(open) || owned.isEmpty()) {
            return Future.succeededFuture();
        }
        return giveUp(open, List.copyOf(owned))
                .compose(given -> vertx.timer(RETRY_MILLIS, TimeUnit.MILLISECONDS))
                .compose(later -> handOverAll(open));
    }

    /** Releases the locks; idempotent. */
    Future<Void> close() {
        closed = true;
        return locks.close();
    }
}
