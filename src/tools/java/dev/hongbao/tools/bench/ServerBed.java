package dev.hongbao.tools.bench;

import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.values.Caller;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A server in its own process, and beside it an engine of this process that sends packets. Blocking, confined to one thread.
 *
 * @param headers of the members, for {@link HttpCalls}
 */
record ServerBed(Trial trial, ChildServer server, BenchBed bed, byte[][] headers) implements AutoCloseable {
    /** More than a server settles. */
    private static final int MOST_PER_SECOND = 60_000;

    private static final int CAPACITY_MILLIS = 3_000;
    static final double MIB = 1024 * 1024;

    /** Starts the server on the data of the trial's directory. */
    static ServerBed start(Trial trial, int maxHeapMiB, Map<String, String> options, List<Caller> members)
            throws Exception {
        ChildServer server = ChildServer.start(trial.directory, maxHeapMiB, options);
        try {
            BenchBed bed = BenchBed.beside(trial, server.config());
            return new ServerBed(trial, server, bed, HttpCalls.headers(server.config(), members));
        } catch (Exception | LinkageError fault) {
            server.close();
            throw fault;
        }
    }

    HttpLoad load(int connections) {
        return new HttpLoad(List.of(server.port()), connections).of(server.pid());
    }

    /** Claims by all members on one packet after the other, enough for {@code perSecond}. */
    HttpLoad.Requests claims(double perSecond, Duration time) throws Exception {
        return claims(bed, headers, perSecond, time, false);
    }

    static HttpLoad.Requests claims(BenchBed bed, byte[][] headers, double perSecond, Duration time, boolean async)
            throws Exception {
        int packets = (int) (perSecond * time.toMillis() / 1_000 / headers.length) + 1;
        return HttpCalls.inTurn(headers, bed.send(packets, headers.length), async);
    }

    /** Measures how many claims a second the server settles in a closed loop. */
    Speed capacity(int connections) throws Exception {
        trial.step("capacity");
        Duration length = trial.time(CAPACITY_MILLIS);
        Duration lead = length.dividedBy(3);
        HttpLoad.Outcome outcome = load(connections).lead(lead).run(claims(MOST_PER_SECOND, lead.plus(length)), length);
        trial.loadFault(outcome.troubles());
        if (outcome.donePerSecond() < 1) {
            trial.loadFault("the capacity was not found");
        }
        return outcome.speed();
    }

    /** Heap in use after a full collection. */
    double heapMiB() throws IOException {
        return server.heapBytes() / MIB;
    }

    @Override
    public void close() throws Exception {
        try {
            bed.close();
        } finally {
            server.close();
        }
    }
}
