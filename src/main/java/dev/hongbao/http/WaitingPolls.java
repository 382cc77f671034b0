package dev.hongbao.http;

import dev.hongbao.values.Caller;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A loop's polls that wait for events: each counts as its caller's until it is answered or its client is gone. Confined to its
 * event loop.
 */
public final class WaitingPolls {
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
