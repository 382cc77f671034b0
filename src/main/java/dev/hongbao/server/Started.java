package dev.hongbao.server;

import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server has started, to be stopped in reverse, and how long either may take. Started by one thread, stopped by any; blocking. */
final class Started implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Started.class);

    /** A store that was killed under load reads its log back first. */
    static final Duration START_LIMIT = Duration.ofMinutes(11);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(8);

    private final Deque<Runnable> stops = new ArrayDeque<>();

    /** Is stopped before all that stands here already. */
    void add(Runnable stop) {
        stops.push(stop);
    }

    /** The same for what takes its time; what did not stop cleanly is a line in the log. @param what for that line */
    void add(String what, Supplier<Future<?>> stop) {
        add(() -> stop(what, stop.get()));
    }

    /** Is stopped after all that stands here already. */
    void addAsLast(Runnable stop) {
        stops.addLast(stop);
    }

    /** Deploys a face and returns once it serves. */
    void deploy(Vertx vertx, int instances, Supplier<Deployable> verticle) throws Exception {
        String id = await(vertx.deployVerticle(verticle, new DeploymentOptions().setInstances(instances)));
        add("a face", () -> vertx.undeploy(id));
    }

    /** Stops in order; returns when everything has stopped, also for who comes while it is being stopped. Idempotent. */
    @Override
    public synchronized void close() {
        while (!stops.isEmpty()) {
            stops.pop().run();
        }
    }

    private static void stop(String what, Future<?> stopped) {
        try {
            stopped.toCompletionStage().toCompletableFuture().get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException fault) {
            LOG.warn("{} did not stop cleanly: {}", what, fault.toString());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Begins it on a thread of its own. */
    static <T> FutureTask<T> inParallel(String what, Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task, "hongbao-" + what).start();
        return task;
    }

    /** Returns what became of it, within {@link #START_LIMIT}. */
    static <T> T await(Future<T> future) throws Exception {
        return await(future.toCompletionStage().toCompletableFuture());
    }

    static <T> T await(java.util.concurrent.Future<T> future) throws Exception {
        try {
            return future.get(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException fault) {
            throw fault.getCause() instanceof Exception cause ? cause : fault;
        } catch (TimeoutException late) {
            throw new TimeoutException("not started after " + START_LIMIT.toMinutes() + " minutes; see the log");
        }
    }
}
