package dev.hongbao.web.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * One event loop's answers with written data that the client has not taken, mostly for microseconds. Finds clients that do not
 * read, or read too slowly. Confined to its event loop.
 */
final class UnreadAnswers {
    /** After this time a client counts as not reading; its connection makes room when the server is full. */
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

    /** @param slowNanos in which the client must take each write */
    UnreadAnswers(long slowNanos, LongSupplier nanoTime) {
        this.slowNanos = slowNanos;
        this.nanoTime = nanoTime;
    }

    /** Adds an answer that waits; if it waits already, remove it first. */
    void add(AnswerWriter answer) {
        waiting.put(answer, new Waiting(nanoTime.getAsLong()));
    }

    /** Removes an answer. @return whether {@link #stalled} had returned it */
    boolean remove(AnswerWriter answer) {
        Waiting before = waiting.remove(answer);
        return before != null && before.isStalled;
    }

    /** Answers newly found to wait for a client that does not read; returns each once. */
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

    /** Answers that have waited too long; returns them again after the same time. */
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
