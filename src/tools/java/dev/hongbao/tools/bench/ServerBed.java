package dev.hongbao.tools.bench;

import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.values.Caller;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A server in its own process, and beside it an engine of this process that sends packets. Blocking, confined to one thread. */
record ServerBed(Trial trial, ChildServer process, BenchBed bed, byte[][] headers) implements AutoCloseable {
    /** More than a server settles. */
    private static final int MOST_PER_SECOND = 60_000;

    private static final int CAPACITY_MILLIS = 3_000;
    private static final double MIB = 1024 * 1024;

    /** Starts the server on the data of the trial's directory. */
    static ServerBed start(Trial trial, int maxHeapMiB, Map<String, String> options, List<Caller> members)
            throws Exception {
        ChildServer process = ChildServer.start(
                trial.directory, List.of("-Xmx" + maxHeapMiB + "m"), options, ProcessBuilder.Redirect.INHERIT);
        BenchBed bed = BenchBed.beside(trial, process.config());
        return new ServerBed(trial, process, bed, HttpCalls.headers(process.config(), members));
    }

    HttpLoad load(int connections) {
        return new HttpLoad(List.of(process.port()), connections);
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
    double capacity(int connections) throws Exception {
        trial.step("capacity");
        Duration length = trial.time(CAPACITY_MILLIS);
        Duration lead = length.dividedBy(3);
        double speed = load(connections)
                .lead(lead)
                .run(claims(MOST_PER_SECOND, lead.plus(length)), length)
                .in(trial)
                .donePerSecond();
        trial.loadFault(speed < 1 ? "the capacity was not found" : "");
        return speed;
    }

    /** Heap in use after a full collection. */
    double heapMiB() throws IOException {
        return process.heapBytes() / MIB;
    }

    @Override
    public void close() throws Exception {
        try (process) {
            bed.close();
        }
    }
}
