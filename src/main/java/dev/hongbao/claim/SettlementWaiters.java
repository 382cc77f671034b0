package dev.hongbao.claim;

import dev.hongbao.command.UnavailableException;
import dev.hongbao.command.UserId;
import dev.hongbao.journal.Generation;
import dev.hongbao.journal.Shards;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.PacketId;
import dev.hongbao.packet.PacketStore;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who waits for a claim to be settled: answered by the settled event, or by the row in Postgres, which is looked up for those
 * who wait long (the event is best effort, and another server's does not come here). One instance per event loop, used on it
 * only.
 */
final class SettlementWaiters {
    private static final Logger LOG = LoggerFactory.getLogger(SettlementWaiters.class);

    /** Between looks. */
    private static final long LOOK_MILLIS = 50;

    /** Waiting longer than this is long, and then the generation may have changed too. */
    private static final long LONG_NANOS = 60_000_000;

    private static final int MAX_LOOKUPS = 512;

    private final PacketStore store;
    private final Shards shards;
    private final ClaimSettings settings;
    private final ClaimMetrics metrics;
    private final Map<Key, Waiter> waiters = new LinkedHashMap<>();
    private boolean looking;

    SettlementWaiters(Vertx vertx, PacketStore store, Shards shards, ClaimSettings settings, ClaimMetrics metrics) {
        this.store = store;
        this.shards = shards;
        this.settings = settings;
        this.metrics = metrics;
        vertx.eventBus()
                .<SettledClaims>localConsumer(
                        SettledClaims.ADDRESS,
                        settled -> settled.body().claims().forEach(this::settled));
        vertx.setPeriodic(LOOK_MILLIS, tick -> look());
    }

    /** Whose claim on what. */
    record Key(PacketId packet, UserId user) {}

    /**
     * Somebody's wait.
     *
     * @param generation in which the script gave or knew the slot
     */
    private record Waiter(Generation generation, long sinceNanos, long deadlineNanos, Promise<Settlement> promise) {}

    /**
     * How a wait ends: with the settled claim, or without one, when the generation that had accepted it is over and Postgres
     * has no such claim, so that it has to be claimed again.
     */
    record Settlement(@Nullable Claim claim) {}

    boolean isFull() {
        return waiters.size() >= settings.maxUnsettled();
    }

    int waiting() {
        return waiters.size();
    }

    /** The wait that is under way for the same claim; null for none. */
    @Nullable
    Future<Settlement> joined(Key key) {
        Waiter waiter = waiters.get(key);
        return waiter == null ? null : waiter.promise.future();
    }

    /**
     * Waits, together with whoever waits for the same claim already.
     *
     * @return fails with {@link UnavailableException} at the deadline
     */
    Future<Settlement> await(Key key, Generation generation, long deadlineNanos) {
        Waiter waiter = waiters.get(key);
        if (waiter == null) {
            waiter = new Waiter(generation, System.nanoTime(), deadlineNanos, Promise.promise());
            waiters.put(key, waiter);
        }
        return waiter.promise.future();
    }

    /** Ends the wait for a claim that is settled, if anybody waits. */
    void settled(Claim claim) {
        Waiter waiter = waiters.remove(new Key(claim.packet(), claim.user()));
        if (waiter != null) {
            metrics.settledAfter(System.nanoTime() - waiter.sinceNanos);
            waiter.promise.complete(new Settlement(claim));
        }
    }

    private void look() {
        long now = System.nanoTime();
        List<Key> keys = new ArrayList<>();
        Map<Key, Generation> asked = new LinkedHashMap<>();
        for (Iterator<Map.Entry<Key, Waiter>> all = waiters.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Key, Waiter> entry = all.next();
            Waiter waiter = entry.getValue();
            if (waiter.deadlineNanos - now < 0) {
                all.remove();
                waiter.promise.fail(UnavailableException.unknown(
                        "The claim is accepted but not settled yet. Repeat it: it is not counted twice."));
            } else if (now - waiter.sinceNanos < LONG_NANOS || asked.size() == MAX_LOOKUPS) {
                break; // in order of arrival: the rest has waited less long
            } else {
                keys.add(entry.getKey());
                asked.put(entry.getKey(), waiter.generation);
            }
        }
        if (keys.isEmpty() || looking) {
            return;
        }
        looking = true;
        // The generations first: a claim that Postgres does not have after its generation was over will never be
        // settled.
        shards.refresh()
                .map(refreshed ->
                        keys.stream().filter(key -> isOver(asked.get(key))).toList())
                .compose(over -> store.claims(
                                keys.stream().map(Key::packet).toList(),
                                keys.stream().map(Key::user).toList())
                        .onSuccess(found -> {
                            found.forEach(this::settled);
                            over.forEach(this::lapsed);
                        }))
                .onFailure(fault -> LOG.debug("claims that wait long were not looked up: {}", fault.toString()))
                .onComplete(looked -> looking = false);
    }

    private boolean isOver(@Nullable Generation generation) {
        return generation != null
                && !shards.current(generation.shard()).generation().equals(generation);
    }

    private void lapsed(Key key) {
        Waiter waiter = waiters.get(key);
        if (waiter != null && isOver(waiter.generation)) {
            waiters.remove(key);
            waiter.promise.complete(new Settlement(null));
        }
    }
}
