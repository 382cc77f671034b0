package dev.hongbao.engine.journal;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.TooManyCallsException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.shard.Symptom;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request's way through its shard. It calls the script, reports keys that Redis lost, and awaits the settlement of an
 * accepted item. It repeats a call whose generation ended. A mode adds its early answers and its script. Every step ends by the
 * request's deadline. Confined to its event loop.
 *
 * @param <K> the key of the awaited settlement
 * @param <V> the settled fact
 * @param <O> the outcome
 */
public abstract class Attempt<K, V, O> {
    private static final long RETRY_MILLIS = 20;

    private final Vertx vertx;
    private final Shards shards;
    private final Quarantine quarantine;
    private final SettlementWaiters<K, V> waiters;
    private final long deadlineNanos;

    /** @param deadlineNanos of {@link System#nanoTime} */
    protected Attempt(
            Vertx vertx, Shards shards, Quarantine quarantine, SettlementWaiters<K, V> waiters, long deadlineNanos) {
        this.vertx = vertx;
        this.shards = shards;
        this.quarantine = quarantine;
        this.waiters = waiters;
        this.deadlineNanos = deadlineNanos;
    }

    /** One try: answers early, or calls the script. Idempotent; called again after a change that may change the answer. */
    protected abstract Future<O> attempt();

    /**
     * Repeats an attempt whose generation ended. A mode that writes into Postgres before the script overrides this and looks
     * there first.
     */
    protected Future<O> again() {
        return attempt();
    }

    /** The request's packet or draw. */
    protected abstract UUID unit();

    /** The unit's key in a generation. */
    protected abstract String key(Generation generation);

    /** Whether Postgres still has the unit: a restored backup may lack it. */
    protected abstract Future<Boolean> exists();

    /** The outcome for a unit that does not exist. */
    protected abstract O notFound();

    /** Of {@link System#nanoTime}. */
    protected final long deadlineNanos() {
        return deadlineNanos;
    }

    /** Whether the unit waits for an operator. */
    protected final boolean isSetAside() {
        return quarantine.holds(unit());
    }

    /** The shard's latest generation that this server knows. */
    protected final Generation generation(int shard) {
        return shards.current(shard).generation();
    }

    protected final SettlementWaiters<K, V> waiters() {
        return waiters;
    }

    /** Ends the wait for a store at the deadline: a store may neither answer nor break. */
    protected final <T> Future<T> inTime(Future<T> asked) {
        return inTime(asked, deadlineNanos);
    }

    /**
     * The deadline for a question before there is an attempt.
     *
     * @return {@code asked}, or a failure at the deadline
     */
    public static <T> Future<T> inTime(Future<T> asked, long deadlineNanos) {
        return asked.isComplete()
                ? asked
                : asked.timeout(Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000), TimeUnit.MILLISECONDS);
    }

    /** Passes refusals on; any other failure becomes {@code unknown}, since the caller cannot act on it. */
    public static <T> Future<T> orUnknown(Future<T> outcome) {
        return outcome.recover(fault -> Future.failedFuture(
                fault instanceof UnavailableException
                                || fault instanceof RefusedException
                                || fault instanceof TooManyCallsException
                        ? fault
                        : UnavailableException.unknown(Text.of("unavailable.stores"))));
    }

    /**
     * Awaits the settlement of an accepted item. If its generation ends without one, tries again.
     *
     * @param isOurs whether this attempt's call was accepted; false for an earlier call, maybe of another server
     * @param settled maps the settled fact to the outcome
     */
    protected final Future<O> await(K what, Generation generation, boolean isOurs, Function<V, Future<O>> settled) {
        if (isSetAside()) {
            return Future.failedFuture(UnavailableException.setAside());
        }
        return waiters.await(what, generation, isOurs, deadlineNanos).compose(settlement -> {
            V fact = settlement.fact();
            return fact == null ? again() : settled.apply(fact);
        });
    }

    /**
     * Handles a key that Redis lacks: the unit is over, or Redis or Postgres lost it. A key that Redis lost is reported, and the
     * attempt repeated.
     *
     * @param generation the generation without the key
     * @param over the outcome if Postgres says that the unit is over; null if not
     */
    protected final Future<O> missing(Generation generation, Future<@Nullable O> over) {
        return inTime(over).compose(known -> {
            if (known != null) {
                return Future.succeededFuture(known);
            }
            return inTime(exists())
                    .compose(there -> there ? lost(generation, key(generation)) : Future.succeededFuture(notFound()));
        });
    }

    /**
     * Reports a lost key and tries again until the deadline.
     *
     * @param generation the generation without the key
     */
    protected final Future<O> lost(Generation generation, String key) {
        if (System.nanoTime() - deadlineNanos > 0) {
            return Future.failedFuture(UnavailableException.unknown(Text.of("unavailable.recovering")));
        }
        return inTime(shards.report(generation, Symptom.missing(key)))
                .transform(reported -> vertx.timer(RETRY_MILLIS, TimeUnit.MILLISECONDS))
                .compose(later -> attempt());
    }
}
