package dev.hongbao.tools.local;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Blocking work on several threads. */
public final class Threads {
    private Threads() {}

    /**
     * Does all work, so much at once, and waits for its end.
     *
     * @return the results, in order
     * @throws Exception the first failure, after the end of all work
     */
    public static <T> List<T> all(int threads, List<? extends Callable<T>> work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> each : pool.invokeAll(work)) {
                results.add(each.get());
            }
            return results;
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof Exception cause ? cause : failure;
        } finally {
            pool.shutdownNow();
        }
    }
}
