package dev.hongbao.web.http;

import dev.hongbao.common.values.Caller;
import dev.hongbao.web.access.CallsInFlight;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The calls of a loop that wait for events: each counts among its caller's until it is answered or its client is gone. Confined to its event loop. */
final class WaitingPolls {
    private final AtomicInteger polls;
    private final CallsInFlight inFlight;
    private final long answerMillis;
    private final Map<Poll<?>, Caller> waiting = new HashMap<>();

    /**
     * @param polls those that wait, of all loops
     * @param answerMillis beyond the time a client asked to wait
     */
    WaitingPolls(AtomicInteger polls, CallsInFlight inFlight, long answerMillis) {
        this.polls = polls;
        this.inFlight = inFlight;
        this.answerMillis = answerMillis;
    }

    /**
     * One that waits.
     *
     * @param page its answer; never after {@code cancel}
     * @param stopWaiting answers now
     * @param cancel nobody waits any more
     */
    record Poll<T>(Future<T> page, Runnable stopWaiting, Runnable cancel) {}

    /** Answers all, as if their time were over. */
    void stopWaiting() {
        List.copyOf(waiting.keySet()).forEach(poll -> poll.stopWaiting.run());
    }

    /**
     * Waits for one.
     *
     * @param begin begins it, when its caller may have one more
     */
    <T> Future<T> answer(Call call, int waitSeconds, Supplier<Poll<T>> begin) {
        inFlight.beginPoll(call.caller());
        Poll<T> poll = begin.get();
        waiting.put(poll, call.caller());
        polls.incrementAndGet();
        call.exchange().request().response().closeHandler(gone -> {
            ended(poll);
            poll.cancel.run();
        });
        return poll.page
                .timeout(answerMillis + waitSeconds * 1_000L, TimeUnit.MILLISECONDS)
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
