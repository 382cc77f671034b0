package dev.hongbao.engine;

import dev.hongbao.values.RefusedException;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One request's way through its shard: admitted, accepted by the script, settled by the shard's owner, answered. A mode adds its
 * early answers, its script and the wait for its settlement. A key that Redis lost is reported, and the attempt repeated. Every
 * step ends by the request's deadline. Confined to its event loop.
 *
 * @param <O> the outcome
 */
public abstract class Attempt<O> {
    private static final long RETRY_MILLIS = 20;

    protected final AdmissionControl.Entry entry;
    protected final long deadlineNanos;
    private final Attempts attempts;
    private final UUID unit;

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

    /** The unit's key in a generation. */
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
        if (attempts.loop.nanos() - deadlineNanos > 0) {
            return Future.failedFuture(UnavailableException.unknown(Text.of("unavailable.recovering")));
        }
        return inTime(attempts.shards.report(generation, Symptom.missing(key)))
                .transform(reported -> attempts.loop.pause(RETRY_MILLIS))
                .compose(later -> attempt());
    }
}
