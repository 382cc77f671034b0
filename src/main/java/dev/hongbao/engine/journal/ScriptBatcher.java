package dev.hongbao.engine.journal;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.ToIntFunction;
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
public final class ScriptBatcher<T, A> {
    private static final long RETRY_MILLIS = 20;

    /**
     * Full calls of a shard at once. A crowd uses thousands of connections, and one pass of the event loop reads all of them
     * before Redis' next answer. With two calls a pass, the passes would limit the throughput, not the stores.
     */
    private static final int MAX_IN_FLIGHT = 16;

    private final Vertx vertx;
    private final Shards shards;
    private final Settings<T> settings;
    private final Function<List<T>, ShardScript.Call<List<A>>> calls;
    private final ShardScript script;
    private final List<Lane> lanes = new ArrayList<>();
    private final AtomicInteger unanswered = new AtomicInteger(); // changed on the event loop only
    private int waiting;

    /**
     * The settings of a batcher.
     *
     * @param noun the name of the items in a refusal, such as claims
     * @param batchSize the limit of one call, in the units of {@code size}
     * @param size of an item, at least 1
     * @param maxQueued items that may wait, on this event loop
     * @param batches gets the size of each batch
     */
    public record Settings<T>(Text noun, int batchSize, ToIntFunction<T> size, int maxQueued, IntConsumer batches) {}

    /**
     * One item in the queue.
     *
     * @param only the generation that may take it; null for any
     * @param deadlineNanos of {@link System#nanoTime}
     */
    private record Pending<T, A>(T item, @Nullable Generation only, long deadlineNanos, Promise<A> promise) {}

    /** The item's generation is over; its call changed nothing. */
    public static final class LapsedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LapsedException() {
            super("the generation is over", null, false, false);
        }
    }

    /** @param calls makes the call for some items of one shard; the call answers each item, in their order */
    public ScriptBatcher(
            Vertx vertx,
            RedisLinks redis,
            Shards shards,
            Settings<T> settings,
            Function<List<T>, ShardScript.Call<List<A>>> calls) {
        this.vertx = vertx;
        this.shards = shards;
        this.settings = settings;
        this.calls = calls;
        this.script = new ShardScript(vertx, shards);
        for (int shard = 0; shard < shards.count(); shard++) {
            lanes.add(new Lane(shard, redis));
        }
    }

    /**
     * Puts an item into the next batch of its shard.
     *
     * @param deadlineNanos of {@link System#nanoTime}: until then it is tried
     * @return fails with {@link UnavailableException} if the queue is full or the deadline passed
     */
    public Future<A> submit(int shard, T item, long deadlineNanos) {
        return submit(shard, item, null, deadlineNanos);
    }

    /**
     * Puts an item into the next batch that runs in generation {@code only}: the item relies on facts that were read in it.
     *
     * @param only null for any generation
     * @param deadlineNanos of {@link System#nanoTime}: until then it is tried
     * @return fails also with {@link LapsedException}, if another generation follows before the script answers
     */
    public Future<A> submit(int shard, T item, @Nullable Generation only, long deadlineNanos) {
        if (waiting >= settings.maxQueued) {
            return Future.failedFuture(UnavailableException.overloaded(Text.of("overloaded.waiting", settings.noun)));
        }
        Pending<T, A> pending = new Pending<>(item, only, deadlineNanos, Promise.promise());
        waiting++;
        count(1);
        Lane lane = lanes.get(shard);
        lane.queue.add(pending);
        lane.flushSoon();
        return pending.promise.future();
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
        private final Deque<Pending<T, A>> queue = new ArrayDeque<>();
        private int inFlight;
        private boolean flushing;
        private boolean pausing;

        Lane(int shard, RedisLinks redis) {
            this.shard = shard;
            this.link = shards.current(shard).generation().link(redis);
        }

        /** Flushes after this pass of the event loop, so that its requests share one call. */
        void flushSoon() {
            if (!flushing) {
                flushing = true;
                vertx.runOnContext(after -> {
                    flushing = false;
                    flush();
                });
            }
        }

        /** During a call only a full batch goes, so that Redis never waits for us. */
        private void flush() {
            while (!queue.isEmpty()
                    && !pausing
                    && (inFlight == 0 || inFlight < MAX_IN_FLIGHT && queue.size() >= settings.batchSize)) {
                send();
            }
        }

        private void send() {
            Shards.Shard current = shards.current(shard);
            List<Pending<T, A>> batch = new ArrayList<>();
            List<T> items = new ArrayList<>();
            int size = 0;
            for (Pending<T, A> next = queue.peek(); next != null; next = queue.peek()) {
                if (next.only != null && !next.only.equals(current.generation())) {
                    fail(queue.remove(), new LapsedException());
                    continue;
                }
                if (next.deadlineNanos - System.nanoTime() < 0) {
                    // The process may have stood still for long, and the facts behind an item may be over.
                    fail(queue.remove(), tooLate());
                    continue;
                }
                int more = settings.size.applyAsInt(next.item);
                if (size > 0 && size + more > settings.batchSize) {
                    break;
                }
                size += more;
                batch.add(queue.remove());
                items.add(next.item);
            }
            if (batch.isEmpty()) {
                return;
            }
            inFlight++;
            settings.batches.accept(size);
            script.call(link, current, calls.apply(items)).onComplete(done -> {
                inFlight--;
                if (done.succeeded()) {
                    answer(batch, done.result());
                    flushSoon();
                } else {
                    retry(batch, done.cause());
                }
            });
        }

        private void answer(List<Pending<T, A>> batch, List<A> answers) {
            for (int i = 0; i < batch.size(); i++) {
                leaves();
                batch.get(i).promise.complete(answers.get(i));
                count(-1);
            }
        }

        /** Puts the batch back at the head of the queue and calls again a little later. */
        private void retry(List<Pending<T, A>> batch, Throwable fault) {
            if (RedisFault.is(fault, RedisFault.Kind.JOURNAL_FULL)) {
                batch.forEach(pending ->
                        fail(pending, UnavailableException.overloaded(Text.of("overloaded.unsettled", settings.noun))));
                flush();
                return;
            }
            for (int i = batch.size() - 1; i >= 0; i--) {
                queue.addFirst(batch.get(i));
            }
            long now = System.nanoTime();
            List<Pending<T, A>> late = new ArrayList<>();
            queue.removeIf(pending -> pending.deadlineNanos - now < 0 && late.add(pending));
            pausing = true;
            vertx.setTimer(RETRY_MILLIS, later -> {
                pausing = false;
                flush();
            });
            late.forEach(pending -> fail(pending, tooLate())); // last: their callers may submit again at once
        }

        private UnavailableException tooLate() {
            return UnavailableException.unknown(Text.of("unavailable.not-known"));
        }

        private void fail(Pending<T, A> pending, RuntimeException why) {
            leaves();
            pending.promise.fail(why);
            count(-1);
        }

        private void leaves() {
            waiting--;
        }
    }
}
