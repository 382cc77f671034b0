package dev.hongbao.web.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The answers of one event loop of which something is written that their clients have not taken. Mostly that is a matter of
 * microseconds; who reads nothing, or a few bytes now and then, is found here. Confined to its event loop.
 */
final class UnreadAnswers {
    /** After so long a client does not read, rather than that its line is slow: when the server is full, it makes room. */
    private static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Waiting longest first. */
    private final Map<AnswerWriter, Waiting> waiting = new LinkedHashMap<>();

    private final long slowNanos;
    private final LongSupplier nanoTime;

    private static final class Waiting {
        private final long sinceNanos;
        private long toldNanos;
        private boolean isStalled;

        private Waiting(long sinceNanos) {
            this.sinceNanos = sinceNanos;
            this.toldNanos = sinceNanos;
        }
    }

    /** @param slowNanos in which what is written at once must be taken */
    UnreadAnswers(long slowNanos, LongSupplier nanoTime) {
        this.slowNanos = slowNanos;
        this.nanoTime = nanoTime;
    }

    /** The answer waits from now on. Remove it first when it waits already. */
    void add(AnswerWriter answer) {
        waiting.put(answer, new Waiting(nanoTime.getAsLong()));
    }

    /** It waits no more. @return whether {@link #stalled} had told it */
    boolean remove(AnswerWriter answer) {
        Waiting before = waiting.remove(answer);
        return before != null && before.isStalled;
    }

    /** Those that turn out now to wait for a client who does not read; each is told once. */
    List<AnswerWriter> stalled() {
        List<AnswerWriter> stalled = new ArrayList<>();
        long now = nanoTime.getAsLong();
        for (Map.Entry<AnswerWriter, Waiting> each : waiting.entrySet()) {
            if (now - each.getValue().sinceNanos <= STALLED_NANOS) {
                break;
            }
            if (!each.getValue().isStalled) {
                each.getValue().isStalled = true;
                stalled.add(each.getKey());
            }
        }
        return stalled;
    }

    /** Those that have waited for too long; they are told again when they wait as long again. */
    List<AnswerWriter> late() {
        List<AnswerWriter> late = new ArrayList<>();
        long now = nanoTime.getAsLong();
        for (Map.Entry<AnswerWriter, Waiting> each : waiting.entrySet()) {
            Waiting wait = each.getValue();
            if (now - wait.sinceNanos <= slowNanos) {
                break;
            }
            if (now - wait.toldNanos > slowNanos) {
                wait.toldNanos = now;
                late.add(each.getKey());
            }
        }
        return late;
    }
}
