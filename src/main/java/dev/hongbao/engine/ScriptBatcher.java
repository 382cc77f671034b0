package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import io.micrometer.core.instrument.DistributionSummary;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gathers items into calls of one script. During a call for a shard, later items of the shard wait for the next call. So batches
 * grow with the load, and a lone item goes at once; so does a full batch. One instance per event loop, used on it only.
 *
 * <p>A failed call is repeated until its items' deadlines, so items must be idempotent.
 *
 * @param <T> an item: a claim, a request of plays
 * @param <A> the script's answer to one item
 */
public final class ScriptBatcher<T extends ScriptBatcher.Item<A>, A> {
    private static final long RETRY_MILLIS = 20;

    /**
     * Full calls of a shard at once. A crowd uses thousands of connections, and one pass of the event loop reads all of them
     * before Redis' next answer. With two calls a pass, the passes would limit the throughput, not the stores.
     */
    private static final int MAX_IN_FLIGHT = 16;

    private final Loop loop;
    private final Shards shards;
    private final Attempts.Limits limits;
    private final Text noun;
    private final DistributionSummary batches;
    private final Function<List<T>, ShardScript.Call<List<A>>> calls;
    private final ShardScript script;
    private final List<Lane> lanes = new ArrayList<>();
    private final AtomicInteger unanswered = new AtomicInteger(); // changed on the event loop only
    private int waiting;

    /**
     * One item in the queue.
     *
     * @param <A> the script's answer
     */
    public abstract static class Item<A> {
        final @Nullable Generation only;
        final long deadlineNanos;
        final Promise<A> promise = Promise.promise();

        /** Whether a call with it failed: the script may have taken it. */
        boolean isRepeated;

        /** @param deadlineNanos of {@link System#nanoTime}: until then it is tried */
        protected Item(long deadlineNanos) {
            this(null, deadlineNanos);
        }

        /**
         * @param only the generation that may take it, since it relies on facts that were read in it; null for any
         * @param deadlineNanos of {@link System#nanoTime}: until then it is tried
         */
        protected Item(@Nullable Generation only, long deadlineNanos) {
            this.only = only;
            this.deadlineNanos = deadlineNanos;
        }

        /** A copy for another call: the script may have taken the item in a call that failed. */
        protected Item(Item<A> before) {
            this(before.only, before.deadlineNanos);
            this.isRepeated = before.isRepeated;
        }

        /** Its part of a batch, at least 1. */
        protected int size() {
            return 1;
        }
    }

    /** The item's generation is over; its call changed nothing. */
    public static final class LapsedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LapsedException() {
            super("the generation is over", null, false, false);
        }
    }

    /**
     * @param noun the name of the items in a refusal, such as claims
     * @param batches gets the size of each batch
     * @param calls makes the call for some items of one shard; the call answers each item, in their order
     */
    public ScriptBatcher(
            Attempts attempts,
            Text noun,
            DistributionSummary batches,
            Function<List<T>, ShardScript.Call<List<A>>> calls) {
        this.loop = attempts.loop;
        this.shards = attempts.shards;
        this.limits = attempts.limits;
        this.noun = noun;
        this.batches = batches;
        this.calls = calls;
        this.script = new ShardScript(loop, shards);
        for (int shard = 0; shard < shards.count(); shard++) {
            lanes.add(new Lane(shard, attempts.generation(shard).link(attempts.redis)));
        }
    }

    /**
     * Puts an item into the next batch of its shard.
     *
     * @return fails with {@link UnavailableException} if the queue is full or the deadline passed, and with {@link
     *     LapsedException} if the item's generation ended before the script answered
     */
    public Future<A> submit(int shard, T item) {
        if (waiting >= limits.maxWaiting()) {
            return Future.failedFuture(UnavailableException.overloaded(Text.of("overloaded.waiting", noun)));
        }
        waiting++;
        count(1);
        Lane lane = lanes.get(shard);
        lane.queue.add(item);
        lane.flushSoon();
        return item.promise.future();
    }

    /** Items waiting for the script. */
    public int waiting() {
        return waiting;
    }

    /**
     * Whether an item has no answer yet, or its caller is reading the answer: the caller may then wait for a settlement. Safe on
     * any thread.
     */
    public boolean isUnanswered() {
        return unanswered.getAcquire() > 0;
    }

    private void count(int more) {
        unanswered.setRelease(unanswered.getPlain() + more);
    }

    /** The items of one shard. */
    private final class Lane {
        private final int shard;
        private final RedisLink link;
        private final Deque<T> queue = new ArrayDeque<>();
        private int inFlight;
        private boolean flushing;
        private boolean pausing;

        Lane(int shard, RedisLink link) {
            this.shard = shard;
            this.link = link;
        }

        /** Flushes after this pass of the event loop, so that its requests share one call. */
        void flushSoon() {
            if (!flushing) {
                flushing = true;
                loop.run(() -> {
                    flushing = false;
                    flush();
                });
            }
        }

        /** During a call only a full batch goes, so that Redis never waits for us. */
        private void flush() {
            while (!queue.isEmpty()
                    && !pausing
                    && (inFlight == 0 || inFlight < MAX_IN_FLIGHT && queue.size() >= limits.batchSize())) {
                send();
            }
        }

        private void send() {
            Shards.Shard current = shards.current(shard);
            List<T> batch = new ArrayList<>();
            int size = 0;
            for (T next = queue.peek(); next != null; next = queue.peek()) {
                if (next.only != null && !next.only.equals(current.generation())) {
                    fail(queue.remove(), new LapsedException());
                    continue;
                }
                if (next.deadlineNanos - loop.nanos() < 0) {
                    // The process may have stood still for long, and the facts behind an item may be over.
                    fail(queue.remove(), tooLate());
                    continue;
                }
                int more = next.size();
                if (size > 0 && size + more > limits.batchSize()) {
                    break;
                }
                size += more;
                batch.add(queue.remove());
            }
            if (batch.isEmpty()) {
                return;
            }
            inFlight++;
            batches.record(size);
            script.call(link, current, calls.apply(batch)).onComplete(done -> {
                inFlight--;
                if (done.succeeded()) {
                    answer(batch, done.result());
                    flushSoon();
                } else {
                    retry(batch, done.cause());
                }
            });
        }

        private void answer(List<T> batch, List<A> answers) {
            for (int i = 0; i < batch.size(); i++) {
                leaves();
                batch.get(i).promise.complete(answers.get(i));
                count(-1);
            }
        }

        /** Puts the batch back at the head of the queue and calls again a little later. */
        private void retry(List<T> batch, Throwable fault) {
            if (RedisFault.is(fault, RedisFault.Kind.JOURNAL_FULL)) {
                UnavailableException full = UnavailableException.overloaded(Text.of("overloaded.unsettled", noun));
                batch.forEach(item -> fail(item, item.isRepeated ? tooLate() : full));
                flush();
                return;
            }
            for (int i = batch.size() - 1; i >= 0; i--) {
                T item = batch.get(i);
                item.isRepeated = true;
                queue.addFirst(item);
            }
            long now = loop.nanos();
            List<T> late = new ArrayList<>();
            queue.removeIf(item -> item.deadlineNanos - now < 0 && late.add(item));
            pausing = true;
            loop.timer(RETRY_MILLIS, () -> {
                pausing = false;
                flush();
            });
            late.forEach(item -> fail(item, tooLate())); // last: their callers may submit again at once
        }

        private UnavailableException tooLate() {
            return UnavailableException.unknown(Text.of("unavailable.not-known"));
        }

        private void fail(T item, RuntimeException why) {
            leaves();
            item.promise.fail(why);
            count(-1);
        }

        private void leaves() {
            waiting--;
        }
    }
}
