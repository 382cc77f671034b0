package dev.hongbao.engine;

import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callers that wait for a settlement. The settled event answers them. Events are best effort, and another server may not send
 * one, so long-waiting items are looked up in Postgres. One instance per event loop, used on it only.
 *
 * @param <K> the key of the awaited settlement
 * @param <V> the settled fact
 */
public final class SettlementWaiters<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(SettlementWaiters.class);

    /** Between two looks. */
    private static final long LOOK_MILLIS = 50;

    /** A longer wait counts as long; by then the generation may have changed, too. */
    private static final long LONG_NANOS = 60_000_000;

    /**
     * After so long without an event of a shard, its events count as lost, and Postgres is asked. A settlement of thousands of
     * claims takes longer than {@link #LONG_NANOS}, on a busy machine a quarter of a second. Looking up all its claims meanwhile
     * would slow the next settlement down. The value does not exceed the time to replace a killed owner.
     */
    private static final long SILENT_NANOS = 500_000_000;

    /** A longer wait is asked for in any case, even while the shard's events arrive: this item's event was missed. */
    private static final long TOO_LONG_NANOS = 1_000_000_000L;

    /** Facts that are remembered for callers that are about to wait: about a tenth of a second of settlements. */
    private static final int MAX_EARLY = 4_096;

    /** The time for which an abandoned, unsettled item still takes a place. */
    private static final long LATE_NANOS = 3_000_000_000L;

    private final Loop loop;
    private final Executor here;
    private final Shards shards;
    private final int maxWaiting;
    private final Function<Collection<K>, Future<Map<K, V>>> lookup;
    private final LongConsumer settledAfterNanos;
    private final LongSupplier nanoTime;
    private final Map<K, Waiter<V>> waiters = new LinkedHashMap<>();
    private final Map<K, Late> late = new LinkedHashMap<>();

    /** When an event of each shard came last. */
    private final long[] heardNanos;

    private final Map<K, V> early = new LinkedHashMap<>();
    private final ShardCounts unsettled;
    private final ShardCounts settled;
    private boolean looking;

    /**
     * One wait.
     *
     * @param generation the one in which the script accepted the item, or knew it as accepted
     * @param isTold whether the shard's writer sends this server the settlement
     */
    private record Waiter<V>(
            Generation generation, boolean isTold, long sinceNanos, long deadlineNanos, Promise<@Nullable V> promise) {}

    /** An item without a caller that is not known to be settled. */
    private record Late(int shard, long sinceNanos) {}

    /**
     * @param maxWaiting how many may wait on this event loop
     * @param lookup asks Postgres for the settled facts of these keys; unsettled keys are absent
     * @param settledAfterNanos gets the wait of each settled item
     * @param nanoTime as {@link System#nanoTime}
     */
    public SettlementWaiters(
            Loop loop,
            Shards shards,
            int maxWaiting,
            Function<Collection<K>, Future<Map<K, V>>> lookup,
            LongConsumer settledAfterNanos,
            LongSupplier nanoTime) {
        this.shards = shards;
        this.maxWaiting = maxWaiting;
        this.lookup = lookup;
        this.settledAfterNanos = settledAfterNanos;
        this.nanoTime = nanoTime;
        this.loop = loop;
        this.here = loop.here();
        this.unsettled = new ShardCounts(shards.count());
        this.settled = new ShardCounts(shards.count());
        this.heardNanos = new long[shards.count()];
        Arrays.fill(heardNanos, nanoTime.getAsLong() - SILENT_NANOS);
        loop.periodic(LOOK_MILLIS, () -> look());
        shards.whenPostgresWentBack(() -> here.execute(early::clear));
    }

    /**
     * Listens to settlements from now on, while a caller waits or will in a moment. Other settlements are skipped: a later caller
     * finds them in Postgres.
     *
     * @param coming whether items are on their way to acceptance; asked on any thread
     * @param settled calls {@link #settled} for each fact
     */
    public <F> void listen(Settlements<F> settlements, BooleanSupplier coming, Consumer<F> settled) {
        // The order matters: a claim that moves from the batcher to the waiters between the two reads is seen by the
        // second.
        BooleanSupplier waits = () -> coming.getAsBoolean() || unsettled.sum() > 0;
        settlements.here().add(here, waits, settled);
        settlements.toWaiters().add(here, waits, settled);
    }

    /**
     * Whether nothing more should be accepted. Abandoned items count, too: they are ahead in the journal, so further items would
     * also wait in vain.
     *
     * @param coming items on their way to acceptance
     */
    public boolean isFull(int coming) {
        return coming + waiting() >= maxWaiting;
    }

    /** Occupied places: awaited items, and abandoned ones that are not known to be settled. */
    public int waiting() {
        return waiters.size() + late.size();
    }

    /** Awaited items, and abandoned ones that are not known to be settled, by shard. */
    public ShardCounts unsettled() {
        return unsettled;
    }

    /** Items that were settled after a wait, by shard, since the start. */
    public ShardCounts settled() {
        return settled;
    }

    public boolean isAwaited(K key) {
        return waiters.containsKey(key);
    }

    /**
     * Waits for a settlement; callers with the same key share one wait, to the earliest deadline of theirs. The settlement may arrive
     * before Redis' answer was read here: then the future is complete at once.
     *
     * @param isTold whether a call of this server was accepted, so that the shard's writer sends it the settlement
     * @return the settled fact; null if the generation ended without it, and the caller has to try again. Fails with {@link
     *     UnavailableException} at the deadline
     */
    public Future<@Nullable V> await(K key, Generation generation, boolean isTold, long deadlineNanos) {
        V fact = early.remove(key);
        if (fact != null) {
            return Future.succeededFuture(fact);
        }
        Waiter<V> waiter = waiters.get(key);
        if (waiter == null) {
            waiter = new Waiter<>(generation, isTold, nanoTime.getAsLong(), deadlineNanos, Promise.promise());
            forgetLate(key);
            waiters.put(key, waiter);
            unsettled.add(generation.shard(), 1);
        } else if (deadlineNanos - waiter.deadlineNanos < 0) {
            // A repeated call was accepted before the first one, which Redis answered late.
            waiter = new Waiter<>(waiter.generation, waiter.isTold, waiter.sinceNanos, deadlineNanos, waiter.promise);
            waiters.put(key, waiter);
        }
        return waiter.promise.future();
    }

    /** Answers the callers of a key: the shard's writer reports its settlement. */
    public void settled(K key, V fact) {
        Waiter<V> waiter = waiters.get(key);
        if (waiter != null) {
            heardNanos[waiter.generation.shard()] = nanoTime.getAsLong();
        }
        found(key, fact);
    }

    /** Answers the callers of a key with a fact from Postgres. Unlike {@link #settled}, it is no sign of the shard's writer. */
    public void found(K key, V fact) {
        Waiter<V> waiter = waiters.remove(key);
        if (waiter == null) {
            forgetLate(key);
            remember(key, fact);
        } else {
            int shard = waiter.generation.shard();
            unsettled.add(shard, -1);
            settled.add(shard, 1);
            settledAfterNanos.accept(nanoTime.getAsLong() - waiter.sinceNanos);
            waiter.promise.complete(fact);
        }
    }

    /**
     * From now on refuses the callers of units that are newly set aside.
     *
     * @param unit the packet or draw of a key
     */
    public void refuseSetAside(Function<K, UUID> unit) {
        loop.<Quarantine.Changed>listen(Quarantine.Changed.ADDRESS, changed -> {
            Set<UUID> added = changed.added();
            for (Iterator<Map.Entry<K, Waiter<V>>> all = waiters.entrySet().iterator(); all.hasNext(); ) {
                Map.Entry<K, Waiter<V>> entry = all.next();
                if (added.contains(unit.apply(entry.getKey()))) {
                    all.remove();
                    unsettled.add(entry.getValue().generation.shard(), -1);
                    entry.getValue().promise.fail(UnavailableException.setAside());
                }
            }
        });
    }

    private void remember(K key, V fact) {
        early.put(key, fact);
        if (early.size() > MAX_EARLY) {
            Iterator<K> oldest = early.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    private void look() {
        long now = nanoTime.getAsLong();
        forgetVeryLate(now);
        Lookups<K> lookups = new Lookups<>();
        for (Iterator<Map.Entry<K, Waiter<V>>> all = waiters.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<K, Waiter<V>> entry = all.next();
            Waiter<V> waiter = entry.getValue();
            if (waiter.deadlineNanos - now < 0) {
                all.remove();
                late.put(entry.getKey(), new Late(waiter.generation.shard(), now));
                waiter.promise.fail(UnavailableException.unknown(Text.of("unavailable.not-settled")));
            } else if (now - waiter.sinceNanos < LONG_NANOS) {
                break; // in order of arrival: the others have waited less
            } else if (!isOnItsWay(waiter, now)) {
                lookups.add(entry.getKey(), waiter.generation);
            }
        }
        Map<K, Generation> asked = lookups.chosen();
        if (asked.isEmpty() || looking) {
            return;
        }
        looking = true;
        // First the generations: a fact that Postgres lacks after its generation ended will never be settled.
        shards.refresh()
                .map(refreshed -> asked.entrySet().stream()
                        .filter(each -> isOver(each.getValue()))
                        .map(Map.Entry::getKey)
                        .toList())
                .compose(over -> lookup.apply(asked.keySet()).onSuccess(found -> {
                    found.forEach(this::found);
                    over.forEach(this::lapsed);
                }))
                .onFailure(fault -> LOG.debug("long-waiting items were not looked up: {}", fault.toString()))
                .onComplete(looked -> looking = false);
    }

    /**
     * Whether the shard's settlements arrive here one after the other. Then its turn comes; lookups for all its callers would
     * only keep Postgres from settling.
     */
    private boolean isOnItsWay(Waiter<V> waiter, long now) {
        return waiter.isTold
                && now - heardNanos[waiter.generation.shard()] < SILENT_NANOS
                && now - waiter.sinceNanos < TOO_LONG_NANOS;
    }

    private void forgetVeryLate(long now) {
        Iterator<Late> oldest = late.values().iterator();
        while (oldest.hasNext()) {
            Late next = oldest.next();
            if (now - next.sinceNanos <= LATE_NANOS) {
                break;
            }
            oldest.remove();
            unsettled.add(next.shard, -1);
        }
    }

    private void forgetLate(K key) {
        Late given = late.remove(key);
        if (given != null) {
            unsettled.add(given.shard, -1);
        }
    }

    private boolean isOver(Generation generation) {
        return !shards.current(generation.shard()).generation().equals(generation);
    }

    private void lapsed(K key) {
        Waiter<V> waiter = waiters.get(key);
        if (waiter != null && isOver(waiter.generation)) {
            waiters.remove(key);
            unsettled.add(waiter.generation.shard(), -1);
            waiter.promise.complete(null);
        }
    }

    /**
     * Selects long-waiting items for one query to Postgres: the oldest ones, an equal number from each shard. So a shard that stands
     * still does not delay another one. For one query; confined to one thread.
     */
    static final class Lookups<K> {
        private static final int MOST = 512;

        private final Map<Integer, Map<K, Generation>> byShard = new LinkedHashMap<>();

        /** Call it in the order of arrival. */
        void add(K key, Generation generation) {
            Map<K, Generation> ofShard = byShard.computeIfAbsent(generation.shard(), shard -> new LinkedHashMap<>());
            if (ofShard.size() < MOST) {
                ofShard.put(key, generation);
            }
        }

        /** At most {@link #MOST} keys, each with the generation that accepted it; empty if none was added. */
        Map<K, Generation> chosen() {
            Map<K, Generation> chosen = new LinkedHashMap<>();
            byShard.values()
                    .forEach(ofShard -> ofShard.entrySet().stream()
                            .limit(Math.max(1, MOST / byShard.size()))
                            .forEach(each -> chosen.put(each.getKey(), each.getValue())));
            return chosen;
        }
    }
}
