package dev.hongbao.claim;

import dev.hongbao.command.UnavailableException;
import dev.hongbao.command.UserId;
import dev.hongbao.journal.Generation;
import dev.hongbao.journal.JournalEntry;
import dev.hongbao.journal.JournalItem;
import dev.hongbao.journal.Shards;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketId;
import dev.hongbao.redis.RedisFault;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers claims into calls of {@code claim.lua}: while one call for a shard is in flight, later claims on it wait for the
 * next, so that batches grow with the load and a lone claim waits for nobody. One instance per event loop, used on it only.
 *
 * <p>A call that fails is made again until the claims' deadlines: claims are idempotent. What was accepted is published to the
 * shard's owner.
 */
final class ClaimBatcher {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimBatcher.class);

    private static final long RETRY_MILLIS = 20;
    private static final long REPORT_NANOS = 200_000_000;

    private final Vertx vertx;
    private final RedisLink redis;
    private final Shards shards;
    private final ClaimSettings settings;
    private final ClaimMetrics metrics;
    private final Lane[] lanes;
    private int waiting;

    ClaimBatcher(Vertx vertx, RedisLink redis, Shards shards, ClaimSettings settings, ClaimMetrics metrics) {
        this.vertx = vertx;
        this.redis = redis;
        this.shards = shards;
        this.settings = settings;
        this.metrics = metrics;
        this.lanes = new Lane[shards.count()];
        for (int shard = 0; shard < lanes.length; shard++) {
            lanes[shard] = new Lane(shard);
        }
    }

    /** What the script said to one claim. */
    enum Verdict {
        /** Won now. */
        GIVEN,
        /** Holds a slot already. */
        HELD,
        DRAINED,
        CLOSED,
        /** Redis does not have the packet. */
        MISSING
    }

    /**
     * The script's answer.
     *
     * @param slot for GIVEN and HELD, else -1
     * @param generation in which it was said
     */
    record Answer(Verdict verdict, int slot, Generation generation) {}

    /** One claim in the queue. */
    private record Pending(Packet packet, UserId user, long deadlineNanos, Promise<Answer> promise) {}

    /**
     * Puts a claim into the next batch.
     *
     * @param deadlineNanos of {@link System#nanoTime}: until then it is tried
     * @return fails with {@link UnavailableException} when the queue is full or the deadline passed
     */
    Future<Answer> submit(Packet packet, UserId user, long deadlineNanos) {
        if (waiting >= settings.maxQueued()) {
            return Future.failedFuture(
                    UnavailableException.overloaded("Too many claims are waiting. Try again shortly."));
        }
        Pending pending = new Pending(packet, user, deadlineNanos, Promise.promise());
        waiting++;
        Lane lane = lanes[packet.shard()];
        lane.queue.add(pending);
        lane.flush();
        return pending.promise.future();
    }

    /** Claims waiting for the script. */
    int waiting() {
        return waiting;
    }

    /** The claims of one shard. */
    private final class Lane {
        private final int shard;
        private final Deque<Pending> queue = new ArrayDeque<>();
        private boolean busy;
        private long lastReportNanos = System.nanoTime() - REPORT_NANOS;

        Lane(int shard) {
            this.shard = shard;
        }

        void flush() {
            if (busy || queue.isEmpty()) {
                return;
            }
            busy = true;
            // By id: two objects of one packet would be two keys, and each would be given the same slots.
            Map<PacketId, List<Pending>> batch = new LinkedHashMap<>();
            int size = 0;
            for (; size < settings.batchSize() && !queue.isEmpty(); size++) {
                Pending next = queue.remove();
                batch.computeIfAbsent(next.packet.id(), packet -> new ArrayList<>())
                        .add(next);
            }
            metrics.batch(size);
            Shards.Shard current = shards.current(shard);
            redis.send(request(current, batch)).onComplete(done -> {
                if (done.succeeded()) {
                    busy = false;
                    answer(current.generation(), batch, done.result());
                    flush();
                } else {
                    retry(current.generation(), batch, done.cause());
                }
            });
        }

        private Request request(Shards.Shard current, Map<PacketId, List<Pending>> batch) {
            Generation generation = current.generation();
            Request call = Request.cmd(Command.EVALSHA)
                    .arg(current.script("claim").sha())
                    .arg(batch.size() + 1)
                    .arg(generation.journalKey());
            for (PacketId packet : batch.keySet()) {
                call.arg(generation.packetKey(packet.toString()));
            }
            call.arg(settings.maxJournalEntries());
            batch.forEach((packet, claims) -> {
                call.arg(packet.toString()).arg(claims.get(0).packet.count()).arg(claims.size());
                for (Pending claim : claims) {
                    call.arg(claim.user.value());
                }
            });
            return call;
        }

        private void answer(Generation generation, Map<PacketId, List<Pending>> batch, Response reply) {
            String[] outcomes = reply.get(1).toString().split(" ");
            List<JournalItem> accepted = new ArrayList<>();
            int next = 0;
            for (Map.Entry<PacketId, List<Pending>> entry : batch.entrySet()) {
                List<UserId> winners = new ArrayList<>();
                int firstSlot = -1;
                for (Pending claim : entry.getValue()) {
                    Answer answer = answer(generation, outcomes[next++]);
                    if (answer.verdict == Verdict.GIVEN) {
                        firstSlot = winners.isEmpty() ? answer.slot : firstSlot;
                        winners.add(claim.user);
                    }
                    waiting--;
                    claim.promise.complete(answer);
                }
                if (!winners.isEmpty()) {
                    accepted.add(new AcceptedClaims(entry.getKey(), firstSlot, winners));
                }
            }
            if (!accepted.isEmpty()) {
                long seq = Long.parseLong(reply.get(0).toString());
                vertx.eventBus()
                        .publish(
                                JournalEntry.address(shard),
                                new JournalEntry(generation, seq, AcceptedClaims.VERB, accepted));
            }
        }

        private Answer answer(Generation generation, String outcome) {
            return switch (outcome.charAt(0)) {
                case '+' -> new Answer(Verdict.GIVEN, Integer.parseInt(outcome, 1, outcome.length(), 10), generation);
                case '=' -> new Answer(Verdict.HELD, Integer.parseInt(outcome, 1, outcome.length(), 10), generation);
                case 'd' -> new Answer(Verdict.DRAINED, -1, generation);
                case 'c' -> new Answer(Verdict.CLOSED, -1, generation);
                default -> new Answer(Verdict.MISSING, -1, generation);
            };
        }

        /** Puts the batch back at the head of the queue, and looks after what may be the cause. */
        private void retry(Generation generation, Map<PacketId, List<Pending>> batch, Throwable fault) {
            if (RedisFault.is(fault, RedisFault.Kind.JOURNAL_FULL)) {
                batch.values()
                        .forEach(claims -> claims.forEach(claim -> fail(
                                claim,
                                UnavailableException.overloaded(
                                        "Claims come faster than they settle. Try again shortly."))));
                busy = false;
                flush();
                return;
            }
            List<Pending> again = new ArrayList<>();
            batch.values().forEach(again::addAll);
            for (int i = again.size() - 1; i >= 0; i--) {
                queue.addFirst(again.get(i));
            }
            long now = System.nanoTime();
            queue.removeIf(claim -> {
                boolean late = claim.deadlineNanos - now < 0;
                if (late) {
                    fail(
                            claim,
                            UnavailableException.unknown(
                                    "The outcome is not known yet. Repeat the same claim: it is not counted twice."));
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
                    LOG.error("the claim script of {} failed: {}", generation, fault.getMessage());
                    shards.reportFault(generation);
                }
            }
            vertx.setTimer(RETRY_MILLIS, later -> {
                busy = false;
                flush();
            });
        }

        private void fail(Pending claim, UnavailableException why) {
            waiting--;
            claim.promise.fail(why);
        }
    }
}
