package dev.hongbao.engine.journal;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers items into calls of one script: while one call for a shard is in flight, later items of it wait for the next, so
 * that batches grow with the load and a lone item waits for nobody; a full batch does not wait. One instance per event loop,
 * used on it only.
 *
 * <p>A call that fails is made again until its items' deadlines, so items must be idempotent. What a call accepted is published
 * to the shard's owner.
 *
 * @param <T> an item: a claim, a request of plays
 * @param <A> what the script answers to one item
 */
public final class ScriptBatcher<T, A> {
    private static final Logger LOG = LoggerFactory.getLogger(ScriptBatcher.class);

    private static final long RETRY_MILLIS = 20;

    /** Calls of a shard at once, under load: Redis works on one while the answer of the other is read. */
    private static final int MAX_IN_FLIGHT = 2;

    private static final long REPORT_NANOS = 200_000_000;

    private final Vertx vertx;
    private final RedisLink redis;
    private final Shards shards;
    private final Settings<T> settings;
    private final Function<List<T>, ScriptCall<A>> script;
    private final List<Lane> lanes = new ArrayList<>();
    private int waiting;

    /**
     * How it gathers.
     *
     * @param noun what the items are called in a refusal: "claims"
     * @param batchSize the most that one call takes, in the units of {@code size}
     * @param size of an item, at least 1
     * @param maxQueued items that may wait, on this event loop
     * @param batches hears the size of each batch
     */
    public record Settings<T>(String noun, int batchSize, ToIntFunction<T> size, int maxQueued, IntConsumer batches) {}

    /** One call of the script, for some items; made anew when it is repeated. */
    public interface ScriptCall<A> {
        Request request(Shards.Shard shard);

        /** The reply to {@link #request}, read. */
        Reply<A> read(Generation generation, Response reply);
    }

    /**
     * A script's reply.
     *
     * @param answers one for each item, in the order of the items
     * @param seq of the journal entry; 0 when nothing was accepted
     * @param verb and {@code accepted}: what the entry holds
     */
    public record Reply<A>(List<A> answers, long seq, String verb, List<? extends JournalItem> accepted) {}

    /**
     * One item in the queue.
     *
     * @param deadlineNanos of {@link System#nanoTime}
     */
    private record Pending<T, A>(T item, long deadlineNanos, Promise<A> promise) {}

    /**
     * @param script makes the call for some items of one shard
     */
    public ScriptBatcher(
            Vertx vertx,
            RedisLink redis,
            Shards shards,
            Settings<T> settings,
            Function<List<T>, ScriptCall<A>> script) {
        this.vertx = vertx;
        this.redis = redis;
        this.shards = shards;
        this.settings = settings;
        this.script = script;
        for (int shard = 0; shard < shards.count(); shard++) {
            lanes.add(new Lane(shard));
        }
    }

    /**
     * Puts an item into the next batch of its shard.
     *
     * @param deadlineNanos of {@link System#nanoTime}: until then it is tried
     * @return fails with {@link UnavailableException} when the queue is full or the deadline passed
     */
    public Future<A> submit(int shard, T item, long deadlineNanos) {
        if (waiting >= settings.maxQueued) {
            return Future.failedFuture(
                    UnavailableException.overloaded("Too many " + settings.noun + " are waiting. Try again shortly."));
        }
        Pending<T, A> pending = new Pending<>(item, deadlineNanos, Promise.promise());
        waiting++;
        Lane lane = lanes.get(shard);
        lane.queue.add(pending);
        lane.flushSoon();
        return pending.promise.future();
    }

    /** Items waiting for the script. */
    public int waiting() {
        return waiting;
    }

    /** The items of one shard. */
    private final class Lane {
        private final int shard;
        private final Deque<Pending<T, A>> queue = new ArrayDeque<>();
        private int inFlight;
        private boolean flushing;
        private boolean pausing;
        private long lastReportNanos = System.nanoTime() - REPORT_NANOS;

        Lane(int shard) {
            this.shard = shard;
        }

        /** Once all that came in together has been read: requests of one pass of the event loop make one call. */
        void flushSoon() {
            if (!flushing) {
                flushing = true;
                vertx.runOnContext(after -> {
                    flushing = false;
                    flush();
                });
            }
        }

        /** While a call is in flight only a full batch goes, so that Redis never waits for us. */
        private void flush() {
            while (!queue.isEmpty()
                    && !pausing
                    && (inFlight == 0 || inFlight < MAX_IN_FLIGHT && queue.size() >= settings.batchSize)) {
                send();
            }
        }

        private void send() {
            inFlight++;
            List<Pending<T, A>> batch = new ArrayList<>();
            List<T> items = new ArrayList<>();
            int size = 0;
            for (Pending<T, A> next = queue.peek(); next != null; next = queue.peek()) {
                int more = settings.size.applyAsInt(next.item);
                if (size > 0 && size + more > settings.batchSize) {
                    break;
                }
                size += more;
                batch.add(queue.remove());
                items.add(next.item);
            }
            settings.batches.accept(size);
            ScriptCall<A> call = script.apply(items);
            Shards.Shard current = shards.current(shard);
            redis.send(call.request(current)).onComplete(done -> {
                inFlight--;
                if (done.succeeded()) {
                    answer(batch, current.generation(), call.read(current.generation(), done.result()));
                    flushSoon();
                } else {
                    retry(current.generation(), batch, done.cause());
                }
            });
        }

        private void answer(List<Pending<T, A>> batch, Generation generation, Reply<A> reply) {
            for (int i = 0; i < batch.size(); i++) {
                waiting--;
                batch.get(i).promise.complete(reply.answers.get(i));
            }
            if (!reply.accepted.isEmpty()) {
                vertx.eventBus()
                        .publish(
                                JournalEntry.address(shard),
                                new JournalEntry(generation, reply.seq, reply.verb, List.copyOf(reply.accepted)));
            }
        }

        /** Puts the batch back at the head of the queue, and looks after what may be the cause. */
        private void retry(Generation generation, List<Pending<T, A>> batch, Throwable fault) {
            if (RedisFault.is(fault, RedisFault.Kind.JOURNAL_FULL)) {
                batch.forEach(pending -> fail(
                        pending,
                        UnavailableException.overloaded(
                                "Too many " + settings.noun + " wait to be settled. Try again shortly.")));
                flush();
                return;
            }
            for (int i = batch.size() - 1; i >= 0; i--) {
                queue.addFirst(batch.get(i));
            }
            long now = System.nanoTime();
            queue.removeIf(pending -> {
                boolean late = pending.deadlineNanos - now < 0;
                if (late) {
                    fail(
                            pending,
                            UnavailableException.unknown(
                                    "The outcome is not known yet. Repeat the same request: it is not counted twice."));
                }
                return late;
            });
            boolean fenced =
                    RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT) || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL);
            boolean failed = RedisFault.is(fault, RedisFault.Kind.ERROR);
            if ((fenced || failed) && now - lastReportNanos > REPORT_NANOS) {
                lastReportNanos = now;
                if (fenced) {
                    shards.report(generation, null);
                } else {
                    LOG.error("the script for {} of {} failed: {}", settings.noun, generation, fault.getMessage());
                    shards.reportFault(generation);
                }
            }
            pausing = true;
            vertx.setTimer(RETRY_MILLIS, later -> {
                pausing = false;
                flush();
            });
        }

        private void fail(Pending<T, A> pending, UnavailableException why) {
            waiting--;
            pending.promise.fail(why);
        }
    }
}
