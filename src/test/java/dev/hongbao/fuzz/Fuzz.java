package dev.hongbao.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Sends the inputs of all kinds, one kind after the other. */
final class Fuzz {
    /** Most of them wait for an answer. */
    private static final int THREADS = 32;

    private final long seed;
    private final Findings findings;
    private final Consumer<String> out;

    Fuzz(long seed, Findings findings, Consumer<String> out) {
        this.seed = seed;
        this.findings = findings;
        this.out = out;
    }

    /** Those inputs of a kind whose numbers are from one to below another. */
    void run(Kind kind, long from, long until) throws Exception {
        long begun = System.nanoTime();
        AtomicLong next = new AtomicLong(from);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                workers.add(threads.submit(() -> work(kind, next, until)));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        } finally {
            threads.shutdownNow();
        }
        kind.finish(findings);
        long millis = (System.nanoTime() - begun) / 1_000_000;
        out.accept("%-9s %8d inputs in %6.1f s, %6d a second %s"
                .formatted(
                        kind.name(),
                        until - from,
                        millis / 1e3,
                        (until - from) * 1_000 / Math.max(1, millis),
                        findings.outcomes(kind.name())));
    }

    /** Takes a batch after the other. */
    private void work(Kind kind, AtomicLong next, long until) {
        while (true) {
            long from = next.getAndAdd(kind.batch());
            if (from >= until) {
                return;
            }
            List<Input> batch = new ArrayList<>();
            for (long number = from; number < Math.min(until, from + kind.batch()); number++) {
                batch.add(Input.of(seed, kind.name(), number));
            }
            send(kind, batch);
        }
    }

    /** Sends one input again. */
    void again(Kind kind, long number) throws Exception {
        send(kind, List.of(Input.of(seed, kind.name(), number)));
        kind.finish(findings);
        out.accept(kind.name() + ":" + number + " " + findings.outcomes(kind.name()));
    }

    private void send(Kind kind, List<Input> batch) {
        try {
            kind.send(batch, findings);
        } catch (Exception | StackOverflowError | OutOfMemoryError fault) {
            StackTraceElement[] stack = fault.getStackTrace();
            findings.found(
                    batch.get(0),
                    "of " + batch.size() + " inputs from here on one failed: " + fault
                            + (stack.length == 0 ? "" : " at " + List.of(stack).subList(0, Math.min(6, stack.length))),
                    "");
        }
    }
}
