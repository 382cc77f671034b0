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
 * One request on its way through its shard: the script is asked; what Redis lacks is reported, and the script is asked again;
 * what the script accepted is awaited; what lapses with its generation is tried again. A mode adds its own early answers and
 * its script. All of it ends by the request's deadline. Confined to its event loop.
 *
 * @param <K> what is waited for
 * @param <V> the settled fact
 * @param <O> the outcome
 */
public abstract class Attempt<K, V, O> {
    private static final long RETRY_MILLIS = 20;

    private final Shared<K, V> shared;
    private final long deadlineNanos;

    /** What all attempts of one mode on an event loop share. */
    public record Shared<K, V>(Vertx vertx, Shards shards, Quarantine quarantine, SettlementWaiters<K, V> waiters) {}

    /** @param deadlineNanos of {@link System#nanoTime} */
    protected Attempt(Shared<K, V> shared, long deadlineNanos) {
        this.shared = shared;
        this.deadlineNanos = deadlineNanos;
    }

    /** One try: answers, or asks the script. Idempotent; called again after what may have changed the answer. */
    protected abstract Future<O> attempt();

    /** Tries again what has lapsed with its generation. Whoever wrote into Postgres before the script was asked looks there first. */
    protected Future<O> again() {
        return attempt();
    }

    /** The packet or draw that it is about. */
    protected abstract UUID unit();

    /** What Redis has of it in a generation. */
    protected abstract String key(Generation generation);

    /** Whether Postgres still has it: one that went back in time may have lost it. */
    protected abstract Future<Boolean> exists();

    /** The outcome when it does not exist. */
    protected abstract O notFound();

    /** Of {@link System#nanoTime}. */
    protected final long deadlineNanos() {
        return deadlineNanos;
    }

    /** Whether an operator has to look at it first. */
    protected final boolean isSetAside() {
        return shared.quarantine.holds(unit());
    }

    /** The latest generation of a shard that this server has heard of. */
    protected final Generation generation(int shard) {
        return shared.shards.current(shard).generation();
    }

    protected final SettlementWaiters<K, V> waiters() {
        return shared.waiters;
    }

    /** A store that neither answers nor breaks must not keep the request beyond its deadline. */
    protected final <T> Future<T> inTime(Future<T> asked) {
        return inTime(asked, deadlineNanos);
    }

    /** The same for what is asked before there is an attempt. */
    public static <T> Future<T> inTime(Future<T> asked, long deadlineNanos) {
        return asked.isComplete()
                ? asked
                : asked.timeout(Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000), TimeUnit.MILLISECONDS);
    }

    /** The same future; whatever a caller cannot act on fails as unknown. */
    public static <T> Future<T> orUnknown(Future<T> outcome) {
        return outcome.recover(fault -> Future.failedFuture(
                fault instanceof UnavailableException
                                || fault instanceof RefusedException
                                || fault instanceof TooManyCallsException
                        ? fault
                        : UnavailableException.unknown(Text.of("unavailable.stores"))));
    }

    /**
     * Awaits the settlement of what the script accepted, and tries again when its generation ends without one.
     *
     * @param isOurs whether it was accepted by this attempt's call, and not by an earlier one, maybe of another server
     * @param settled the outcome of the settled fact
     */
    protected final Future<O> await(K what, Generation generation, boolean isOurs, Function<V, Future<O>> settled) {
        if (isSetAside()) {
            return Future.failedFuture(UnavailableException.setAside());
        }
        return shared.waiters.await(what, generation, isOurs, deadlineNanos).compose(settlement -> {
            V fact = settlement.fact();
            return fact == null ? again() : settled.apply(fact);
        });
    }

    /**
     * Redis lacks it: it is over, or Redis lost it, or Postgres did. What Redis lost is reported, and tried again.
     *
     * @param generation in which it is missing
     * @param over the outcome if Postgres says that it is over; null if not
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
     * Redis lost a key that it needs: that is reported, and it is tried again until the deadline.
     *
     * @param generation in which it is missing
     */
    protected final Future<O> lost(Generation generation, String key) {
        if (System.nanoTime() - deadlineNanos > 0) {
            return Future.failedFuture(UnavailableException.unknown(Text.of("unavailable.recovering")));
        }
        return inTime(shared.shards.report(generation, new Symptom.Missing(key)))
                .transform(reported -> shared.vertx.timer(RETRY_MILLIS, TimeUnit.MILLISECONDS))
                .compose(later -> attempt());
    }
}
