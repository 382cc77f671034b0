package dev.hongbao.engine.journal;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who waits for something accepted to be settled: answered by the settled event, or by the row in Postgres, which is looked up
 * for those who wait long (the event is best effort, and another server may not tell this one). One instance per event loop,
 * used on it only.
 *
 * @param <K> what is waited for
 * @param <V> the settled fact
 */
public final class SettlementWaiters<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(SettlementWaiters.class);

    /** Between looks. */
    private static final long LOOK_MILLIS = 50;

    /** Waiting longer than this is long, and then the generation may have changed too. */
    private static final long LONG_NANOS = 60_000_000;

    /**
     * After this long without word of a shard's settlements this server takes the word for lost and asks Postgres. A settlement of
     * thousands of claims takes longer than {@link #LONG_NANOS}, on a busy machine a quarter of a second; looking all of them up meanwhile
     * would slow the next one down. No longer than it takes to replace a killed owner.
     */
    private static final long SILENT_NANOS = 500_000_000;

    /** It is too long even where one settlement after the other is heard of: then the event was missed. */
    private static final long TOO_LONG_NANOS = 1_000_000_000L;

    /** Facts that are remembered in case that somebody is about to wait for them: what is settled in a tenth of a second. */
    private static final int MAX_EARLY = 4_096;

    /** How long something that nobody waits for any more, and that is not known to be settled, still takes a place. */
    private static final long LATE_NANOS = 3_000_000_000L;

    private final Shards shards;
    private final int maxWaiting;
    private final Function<Collection<K>, Future<Map<K, V>>> lookup;
    private final LongConsumer settledAfterNanos;
    private final LongSupplier nanoTime;
    private final Map<K, Waiter<V>> waiters = new LinkedHashMap<>();
    private final Map<K, Late> late = new LinkedHashMap<>();
    private final Map<Integer, Long> heardOfNanos = new HashMap<>();
    private final Map<K, V> early = new LinkedHashMap<>();
    private final ShardCounts unsettled;
    private final ShardCounts settled;
    private final Context loop;
    private boolean looking;

    /**
     * @param maxWaiting how many may wait on this event loop
     * @param lookup asks Postgres what is settled of these; the rest is left out
     * @param settledAfterNanos hears how long each waited that was settled
     * @param nanoTime as {@link System#nanoTime}
     */
    public SettlementWaiters(
            Vertx vertx,
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
        this.unsettled = new ShardCounts(shards.count());
        this.settled = new ShardCounts(shards.count());
        vertx.setPeriodic(LOOK_MILLIS, tick -> look());
        this.loop = vertx.getOrCreateContext();
        shards.whenPostgresWentBack(() -> loop.runOnContext(now -> early.clear()));
    }

    /**
     * Hears of settlements from now on, while somebody waits or will in a moment. The rest it need not hear: who waits for it later looks in
     * Postgres.
     *
     * @param coming whether something is on its way to being accepted, to be waited for then; asked on any thread
     * @param settled calls {@link #settled} for each fact
     */
    public <F> void listen(Settlements<F> settlements, BooleanSupplier coming, Consumer<F> settled) {
        // The order matters: a claim that moves from the batcher to the waiters between the two looks is seen by the
        // second.
        BooleanSupplier waits = () -> coming.getAsBoolean() || unsettled.sum() > 0;
        settlements.here().add(loop, waits, settled);
        settlements.toWaiters().add(loop, waits, settled);
    }

    /**
     * Somebody's wait.
     *
     * @param generation in which the script accepted it, or knew that it had
     * @param isTold whether the shard's writer tells this server of it
     */
    private record Waiter<V>(
            Generation generation,
            boolean isTold,
            long sinceNanos,
            long deadlineNanos,
            Promise<WaitResult<V>> promise) {}

    /** Something that nobody waits for any more, and that is not known to be settled. */
    private record Late(int shard, long sinceNanos) {}

    /**
     * How a wait ends: with the settled fact, or without one, when the generation that had accepted it is over and Postgres
     * has no such fact, so that it has to be tried again.
     */
    public record WaitResult<V>(@Nullable V fact) {}

    /**
     * Whether nothing more should be accepted. What was given up counts too: it is still in the journal, before all that would
     * be let in, which would only wait in vain as well.
     *
     * @param coming how many are on their way to being accepted and will wait then
     */
    public boolean isFull(int coming) {
        return coming + waiting() >= maxWaiting;
    }

    /** What takes a place: what is waited for, and what was given up and is not known to be settled. */
    public int waiting() {
        return waiters.size() + late.size();
    }

    /** What is waited for, and what was given up and is not known to be settled, by shard. */
    public ShardCounts unsettled() {
        return unsettled;
    }

    /** All that was waited for and settled, by shard, since the start. */
    public ShardCounts settled() {
        return settled;
    }

    /** The wait that is under way for the same thing; null for none. */
    public @Nullable Future<WaitResult<V>> joined(K key) {
        Waiter<V> waiter = waiters.get(key);
        return waiter == null ? null : waiter.promise.future();
    }

    /**
     * Waits, together with whoever waits for the same already. What is accepted may be settled before Redis' word that it is
     * accepted has been read here; then the wait is over.
     *
     * @param isTold whether it was accepted by a call of this server, which the shard's writer therefore tells of the settlement
     * @return fails with {@link UnavailableException} at the deadline
     */
    public Future<WaitResult<V>> await(K key, Generation generation, boolean isTold, long deadlineNanos) {
        V fact = early.remove(key);
        if (fact != null) {
            return Future.succeededFuture(new WaitResult<>(fact));
        }
        Waiter<V> waiter = waiters.get(key);
        if (waiter == null) {
            waiter = new Waiter<>(generation, isTold, nanoTime.getAsLong(), deadlineNanos, Promise.promise());
            forgetLate(key);
            waiters.put(key, waiter);
            unsettled.add(generation.shard(), 1);
        }
        return waiter.promise.future();
    }

    /** It is settled, as its shard's writer tells: whoever waits for it is answered. */
    public void settled(K key, V fact) {
        Waiter<V> waiter = waiters.get(key);
        if (waiter != null) {
            heardOfNanos.put(waiter.generation.shard(), nanoTime.getAsLong());
        }
        found(key, fact);
    }

    /** Completes a wait with a fact read from Postgres. Unlike {@link #settled}, it does not count as word of the shard's writer. */
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
            waiter.promise.complete(new WaitResult<>(fact));
        }
    }

    /** From now on whoever waits for what is set aside is told so. @param unit the packet or draw of what is waited for */
    public void refuseSetAside(Vertx vertx, Function<K, UUID> unit) {
        vertx.eventBus()
                .<Quarantine.Changed>localConsumer(
                        Quarantine.Changed.ADDRESS,
                        changed -> refuse(
                                key -> changed.body().added().contains(unit.apply(key)),
                                UnavailableException.setAside()));
    }

    private void refuse(Predicate<K> what, UnavailableException why) {
        for (Iterator<Map.Entry<K, Waiter<V>>> all = waiters.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<K, Waiter<V>> entry = all.next();
            if (what.test(entry.getKey())) {
                all.remove();
                unsettled.add(entry.getValue().generation.shard(), -1);
                entry.getValue().promise.fail(why);
            }
        }
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
                break; // in order of arrival: the rest has waited less long
            } else if (!isOnItsWay(waiter, now)) {
                lookups.add(entry.getKey(), waiter.generation);
            }
        }
        Map<K, Generation> asked = lookups.chosen();
        if (asked.isEmpty() || looking) {
            return;
        }
        looking = true;
        // The generations first: what Postgres does not have after its generation was over will never be settled.
        shards.refresh()
                .map(refreshed -> over(asked))
                .compose(over -> lookup.apply(asked.keySet()).onSuccess(found -> {
                    found.forEach(this::found);
                    over.forEach(this::lapsed);
                }))
                .onFailure(fault -> LOG.debug("what waits long was not looked up: {}", fault.toString()))
                .onComplete(looked -> looking = false);
    }

    /**
     * Whether its shard's settlements are heard of here, one after the other: then its turn comes, and to ask Postgres for all who
     * wait would only keep Postgres from settling.
     */
    private boolean isOnItsWay(Waiter<V> waiter, long now) {
        Long heardOf = heardOfNanos.get(waiter.generation.shard());
        return waiter.isTold
                && heardOf != null
                && now - heardOf < SILENT_NANOS
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

    private List<K> over(Map<K, Generation> asked) {
        List<K> over = new ArrayList<>();
        asked.forEach((key, generation) -> {
            if (isOver(generation)) {
                over.add(key);
            }
        });
        return over;
    }

    private boolean isOver(Generation generation) {
        return !shards.current(generation.shard()).generation().equals(generation);
    }

    private void lapsed(K key) {
        Waiter<V> waiter = waiters.get(key);
        if (waiter != null && isOver(waiter.generation)) {
            waiters.remove(key);
            unsettled.add(waiter.generation.shard(), -1);
            waiter.promise.complete(new WaitResult<>(null));
        }
    }
}
