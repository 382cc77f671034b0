package dev.hongbao.http;

import dev.hongbao.engine.Loop;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpServerResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Limits the concurrent calls per user: the stores serve a few dozen at a time, and no user may take them all. A call counts
 * until its work has ended, even after its answer. One instance per server, thread-safe.
 */
public final class CallsInFlight {
    private final Counts<UserId> users = new Counts<>();
    private final Counts<UserId> services = new Counts<>();
    private final Counts<UserId> polls = new Counts<>();
    private final int mostOfUser;
    private final int mostOfService;
    private final int mostPolls;
    private final long answerMillis;

    /**
     * @param mostOfUser calls of a plain user, without claims; 0 = no limit, as for the others
     * @param mostOfService calls of one caller with the service role
     * @param mostPolls polls of one caller that wait for events
     * @param answerMillis after which the answer of a call is unknown
     */
    public CallsInFlight(int mostOfUser, int mostOfService, int mostPolls, long answerMillis) {
        this.mostOfUser = mostOfUser;
        this.mostOfService = mostOfService;
        this.mostPolls = mostPolls;
        this.answerMillis = answerMillis;
    }

    /**
     * Makes a call and counts it until it ends, for at most twice the answer's time limit: a lost answer must not lock the user
     * out. Call it on an event loop.
     *
     * @return the answer; fails with {@link TooManyCallsException} when the caller has too many under way, and with a timeout
     *     when the answer does not come in time
     */
    public <T> Future<T> run(Caller caller, Supplier<Future<T>> call) {
        boolean service = caller.role() == Role.SERVICE;
        int most = service ? mostOfService : mostOfUser;
        if (most == 0) {
            return Loop.current().timeout(call.get(), answerMillis);
        }
        Counts<UserId> counts = service ? services : users;
        UserId user = caller.user();
        if (!counts.enter(user, most)) {
            return Future.failedFuture(
                    new TooManyCallsException(Reason.IN_FLIGHT, Text.of("overloaded.calls", most), 1));
        }
        Future<T> work;
        try {
            work = call.get();
        } catch (RuntimeException fault) {
            counts.leave(user);
            throw fault;
        }
        Loop.current().timeout(work, 2 * answerMillis).onComplete(ended -> counts.leave(user));
        return Loop.current().timeout(work, answerMillis);
    }

    /**
     * Counts a poll that waits.
     *
     * @throws TooManyCallsException when the caller has too many, and nothing is counted
     */
    public void beginPoll(Caller caller) {
        if (mostPolls > 0 && !polls.enter(caller.user(), mostPolls)) {
            throw new TooManyCallsException(Reason.IN_FLIGHT, Text.of("overloaded.polls", mostPolls), 1);
        }
    }

    /** A poll that was counted is over. */
    public void endPoll(Caller caller) {
        polls.leave(caller.user());
    }

    /** The current count per key; a key with count 0 uses no memory. Thread-safe. */
    public static final class Counts<K> {
        private final ConcurrentMap<K, Integer> counts = new ConcurrentHashMap<>();

        /**
         * Counts one more.
         *
         * @return false, and nothing is counted, when there are {@code most} already
         */
        public boolean enter(K key, int most) {
            while (true) {
                Integer before = counts.get(key);
                if ((before == null ? 0 : before) >= most) {
                    return false;
                }
                boolean entered =
                        before == null ? counts.putIfAbsent(key, 1) == null : counts.replace(key, before, before + 1);
                if (entered) {
                    return true;
                }
            }
        }

        /** Subtracts one that was counted. */
        public void leave(K key) {
            counts.computeIfPresent(key, (same, count) -> count == 1 ? null : Integer.valueOf(count - 1));
        }
    }

    /**
     * A loop's polls that wait for events: each counts as its caller's until it is answered or its client is gone. Confined to its
     * event loop.
     */
    public static final class WaitingPolls {
        private final AtomicInteger polls;
        private final CallsInFlight inFlight;
        private final long answerMillis;
        private final Map<Poll<?>, Caller> waiting = new HashMap<>();

        /** @param polls waiting on all loops @param answerMillis time limit beyond the client's own wait */
        WaitingPolls(AtomicInteger polls, CallsInFlight inFlight, long answerMillis) {
            this.polls = polls;
            this.inFlight = inFlight;
            this.answerMillis = answerMillis;
        }

        /**
         * A waiting poll.
         * @param page its answer; never after {@code cancel}
         * @param stopWaiting answers now
         * @param cancel called when
         * the client is gone
         */
        public record Poll<T>(Future<T> page, Runnable stopWaiting, Runnable cancel) {}

        /** Answers all polls, as after their time limit. */
        void stopWaiting() {
            List.copyOf(waiting.keySet()).forEach(poll -> poll.stopWaiting.run());
        }

        /** Answers a poll. @param begin starts it, if its caller may have one more */
        public <T> Future<T> answer(Call call, int waitSeconds, Supplier<Poll<T>> begin) {
            HttpServerResponse response = call.exchange().request().response();
            if (response.closed()) { // its handler is not called any more
                return Future.failedFuture(new HttpClosedException("the client is gone"));
            }
            inFlight.beginPoll(call.caller());
            Poll<T> poll = begin.get();
            waiting.put(poll, call.caller());
            polls.incrementAndGet();
            response.closeHandler(gone -> {
                ended(poll);
                poll.cancel.run();
            });
            return Loop.current()
                    .timeout(poll.page, answerMillis + waitSeconds * 1_000L)
                    .onComplete(done -> ended(poll))
                    .onFailure(late -> poll.cancel.run());
        }

        private void ended(Poll<?> poll) {
            Caller caller = waiting.remove(poll);
            if (caller != null) {
                polls.decrementAndGet();
                inFlight.endPoll(caller);
            }
        }
    }
}
