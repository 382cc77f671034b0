package dev.hongbao.tools.bench;

import dev.hongbao.tools.local.ChildServer;
import java.time.Duration;
import java.util.List;

/** How many claims a server settles in a closed loop over HTTP: what a benchmark of too much load is measured against. */
final class Capacity {
    /** Until the server's code is compiled, and it has met each token. */
    static final int WARM_UPS = 6;

    /** More than the server ever does, so that each connection always has a next request. */
    private static final double RATE = 60_000;

    private static final int MILLIS = 3_000;

    private Capacity() {}

    /**
     * Measures it once. Claims that are under way at the end are not waited for.
     *
     * @param headers of the claimers, one each
     * @return settled claims a second
     * @throws IllegalStateException when it could not be found
     */
    static double of(ChildServer server, BenchBed bed, byte[][] headers, int connections, Scale scale)
            throws Exception {
        double perSecond = warmUp(server, bed, headers, connections, scale);
        if (perSecond < 1 || perSecond > RATE * 0.9) {
            throw new IllegalStateException("the server's capacity was not found: " + perSecond + " claims/s");
        }
        return perSecond;
    }

    /** The same for a server that may be too cold to settle anything in so short a time. */
    static double warmUp(ChildServer server, BenchBed bed, byte[][] headers, int connections, Scale scale)
            throws Exception {
        Duration length = Duration.ofMillis(scale.millis(MILLIS));
        Duration warmUp = length.dividedBy(3);
        OpenLoop.Load load =
                new OpenLoop.Load(List.of(server.port()), connections, RATE, warmUp, length, Duration.ZERO);
        OpenLoop.Outcome outcome = OpenLoop.run(load, claims(bed, headers, load), 0);
        long settled =
                outcome.claims.count(warmUp.toNanos(), warmUp.plus(length).toNanos());
        return settled * 1e9 / length.toNanos();
    }

    /** On packets with enough shares, sent by an engine of this process, beside the server. */
    static HttpClaims claims(BenchBed bed, byte[][] headers, OpenLoop.Load load) throws Exception {
        int packets = (int) (load.requests() / headers.length) + 1;
        return HttpClaims.inTurn(headers, BenchPackets.send(bed, packets, headers.length));
    }
}
