package dev.hongbao.engine;

import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UnavailableException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's access to the shards, for the attempts of all modes: scripts over its links, admission, quarantine, clock and
 * deadlines. Used on its loop only.
 */
public final class Attempts {
    final Loop loop;
    final RedisLinks redis;
    final Shards shards;
    final Limits limits;
    private final Quarantine quarantine;
    private final AdmissionControl admission;
    private final Clock clock;

    /**
     * The configured limits.
     *
     * @param batchSize attempts in one call of the script, 1 to 256
     * @param maxWaiting attempts of a mode that may wait on one event loop: for a hold, for the script, or for their settlement
     * @param maxJournalEntries unsettled journal entries of a shard
     * @param timeout how long an attempt waits for its answer; then it is unknown
     * @param slow the duration from which a claim is logged; 0 for none
     */
    public record Limits(int batchSize, int maxWaiting, int maxJournalEntries, Duration timeout, Duration slow) {
        public Limits {
            if (batchSize < 1 || batchSize > 256) {
                throw new IllegalArgumentException("attempts in one call are from 1 to 256, not " + batchSize);
            }
        }
    }

    /**
     * @param redis the links of this event loop
     * @param quarantine the server's
     * @param admission the server's
     * @param clock Postgres' clock as this server knows it
     */
    public Attempts(
            Loop loop,
            RedisLinks redis,
            Shards shards,
            Quarantine quarantine,
            AdmissionControl admission,
            Limits limits,
            Clock clock) {
        this.loop = loop;
        this.redis = redis;
        this.shards = shards;
        this.quarantine = quarantine;
        this.admission = admission;
        this.limits = limits;
        this.clock = clock;
    }

    public RedisLinks redis() {
        return redis;
    }

    public Limits limits() {
        return limits;
    }

    public Clock clock() {
        return clock;
    }

    /** The deadline of an attempt that begins now, of {@link System#nanoTime}. */
    public long deadlineNanos() {
        return loop.nanos() + limits.timeout.toNanos();
    }

    /** The time of the deadlines' clock. */
    public long nanos() {
        return loop.nanos();
    }

    /** Ends the wait for a store at a deadline: a store may neither answer nor break. */
    public <T> Future<T> inTime(Future<T> asked, long deadlineNanos) {
        return asked.isComplete()
                ? asked
                : loop.timeout(asked, Math.max(1, (deadlineNanos - loop.nanos()) / 1_000_000));
    }

    /** The shard's latest generation that this server knows. */
    public Generation generation(int shard) {
        return shards.current(shard).generation();
    }

    /** Whether the packet or draw waits for an operator. */
    public boolean isSetAside(UUID unit) {
        return quarantine.holds(unit);
    }

    /** As {@link Quarantine#refuses}. */
    public boolean refuses(UUID unit) {
        return quarantine.refuses(unit);
    }

    /**
     * The callers of one mode that wait for a settlement.
     *
     * @param unit the packet or draw of a key
     * @param lookup asks Postgres for the settled facts of these keys; unsettled keys are absent
     * @param settling gets the wait of each settled item
     */
    public <K, V> SettlementWaiters<K, V> waiters(
            Function<K, UUID> unit, Function<Collection<K>, Future<Map<K, V>>> lookup, Timer settling) {
        SettlementWaiters<K, V> waiters = new SettlementWaiters<>(
                loop,
                shards,
                limits.maxWaiting,
                lookup,
                nanos -> settling.record(nanos, TimeUnit.NANOSECONDS),
                loop::nanos);
        waiters.refuseSetAside(unit);
        return waiters;
    }

    public AdmissionControl.Gate gate(SettlementWaiters<?, ?> waiters) {
        return admission.gate(waiters.unsettled(), waiters.settled());
    }

    /**
     * One request's way through its shard: admitted, accepted by the script, settled by the shard's owner, answered. A mode adds its
     * early answers, its script and the wait for its settlement. A key that Redis lost is reported, and the attempt repeated. Every
     * step ends by the request's deadline. Confined to its event loop.
     *
     * @param <O> the outcome
     */
    public abstract static class Attempt<O> {
        private static final long RETRY_MILLIS = 20;

        protected final AdmissionControl.Entry entry;
        protected final long deadlineNanos;
        private final Attempts attempts;
        private final UUID unit;

        /** Whether a script may have taken it, or its cost is held: it is no longer true that nothing was done. */
        protected boolean mayBeDone;

        /**
         * @param unit the request's packet or draw
         * @param deadlineNanos of {@link System#nanoTime}
         */
        protected Attempt(Attempts attempts, AdmissionControl.Entry entry, UUID unit, long deadlineNanos) {
            this.attempts = attempts;
            this.entry = entry;
            this.unit = unit;
            this.deadlineNanos = deadlineNanos;
        }

        /** One try: answers early, or calls the script. Idempotent; called again after a change that may change the answer. */
        protected abstract Future<O> attempt();

        protected abstract String key(Generation generation);

        /** Whether Postgres still has the unit: a restored backup may lack it. */
        protected abstract Future<Boolean> exists();

        /** The outcome for a unit that does not exist. */
        protected abstract O notFound();

        /** Whether the unit waits for an operator. */
        protected final boolean isSetAside() {
            return attempts.isSetAside(unit);
        }

        /** Ends the wait for a store at the deadline: a store may neither answer nor break. */
        protected final <T> Future<T> inTime(Future<T> asked) {
            return attempts.inTime(asked, deadlineNanos);
        }

        /** The fault, unless it says "overloaded", which promises that nothing was done, and something may be. */
        protected final Throwable trueFault(Throwable fault) {
            return mayBeDone
                            && fault instanceof UnavailableException refused
                            && refused.reason() == UnavailableException.Reason.OVERLOADED
                    ? UnavailableException.unknown(Text.of("unavailable.not-known"))
                    : fault;
        }

        /** The fault if it is a refusal. Any other one becomes {@code unknown}, since the caller cannot act on it. */
        public static Throwable orUnknown(Throwable fault) {
            return fault instanceof UnavailableException
                            || fault instanceof RefusedException
                            || fault instanceof TooManyCallsException
                    ? fault
                    : UnavailableException.unknown(Text.of("unavailable.stores"));
        }

        /**
         * Handles a key that Redis lacks: the unit is over, or Redis or Postgres lost it. A key that Redis lost is reported, and the
         * attempt repeated.
         *
         * @param generation the generation without the key
         * @param over the outcome if Postgres says that the unit is over; null if not
         */
        protected final Future<O> missing(Generation generation, Future<@Nullable O> over) {
            entry.repeats(true);
            return inTime(over).compose(known -> {
                if (known != null) {
                    return Future.succeededFuture(known);
                }
                return inTime(exists())
                        .compose(there ->
                                there ? lost(generation, key(generation)) : Future.succeededFuture(notFound()));
            });
        }

        /**
         * Reports a lost key and tries again until the deadline.
         *
         * @param generation the generation without the key
         */
        protected final Future<O> lost(Generation generation, String key) {
            if (attempts.loop.nanos() - deadlineNanos > 0) {
                return Future.failedFuture(UnavailableException.unknown(Text.of("unavailable.recovering")));
            }
            entry.repeats(true);
            return inTime(attempts.shards.report(generation, Symptom.missing(key)))
                    .transform(reported -> attempts.loop.pause(RETRY_MILLIS))
                    .compose(later -> {
                        entry.repeats(false);
                        return attempt();
                    });
        }
    }

    /** A gauge that adds up a count of each event loop when it is read, so counting costs nothing. Thread-safe. */
    public static final class LoopSum {
        private final List<IntSupplier> loops = new CopyOnWriteArrayList<>();

        public LoopSum(MeterRegistry registry, String name, String description) {
            Gauge.builder(
                            name,
                            loops,
                            all -> all.stream().mapToInt(IntSupplier::getAsInt).sum())
                    .description(description)
                    .register(registry);
        }

        /**
         * Adds an event loop.
         *
         * @param count read on any thread; an approximate value is good enough
         */
        public void watch(IntSupplier count) {
            loops.add(count);
        }
    }
}
