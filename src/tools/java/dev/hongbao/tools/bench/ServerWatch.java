package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Exhibits.Point;
import dev.hongbao.tools.local.ChildServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Looks at a server several times a second, on a thread of its own, until it is closed. */
final class ServerWatch implements AutoCloseable {
    private static final long EVERY_MILLIS = 250;
    private static final String WAITING = "hongbao_claim_waiting";

    private final ChildServer server;
    private final List<Look> looks = new ArrayList<>();
    private final Thread thread = new Thread(this::lookOn, "bench-watch");
    private volatile boolean done;
    private volatile @Nullable Exception fault;

    /**
     * What was seen.
     *
     * @param atNanos of {@link System#nanoTime}
     * @param waiting claims that wait for their answer
     */
    record Look(long atNanos, ChildServer.Heap heap, double waiting) {}

    private ServerWatch(ChildServer server) {
        this.server = server;
    }

    static ServerWatch start(ChildServer server) {
        ServerWatch watch = new ServerWatch(server);
        watch.thread.setDaemon(true);
        watch.thread.start();
        return watch;
    }

    private void lookOn() {
        try {
            while (!done) {
                double waiting = ServerNumbers.of(server.managementPort()).sum(WAITING);
                looks.add(new Look(System.nanoTime(), server.heap(), waiting));
                TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
            }
        } catch (IOException | InterruptedException failed) {
            fault = failed;
        }
    }

    /** Ends; what was seen is complete then. */
    @Override
    public void close() throws Exception {
        done = true;
        thread.join();
        Exception failed = fault;
        if (failed != null) {
            throw failed;
        }
    }

    List<Look> looks() {
        return List.copyOf(looks);
    }

    /** Seconds since a begin, and something that was seen then. */
    static List<Point> points(List<Look> looks, long begunNanos, ToDoubleFunction<Look> what) {
        return looks.stream()
                .filter(look -> look.atNanos >= begunNanos)
                .map(look -> new Point((look.atNanos - begunNanos) / 1e9, what.applyAsDouble(look)))
                .toList();
    }
}
