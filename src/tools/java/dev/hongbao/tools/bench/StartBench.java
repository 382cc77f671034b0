package dev.hongbao.tools.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.util.List;
import java.util.Map;

/**
 * The time of a start; sends, and settled claims, over HTTP in its first seconds against the same load when the code is compiled.
 * Each load starts a process on stores that hold data. A class archive of this JVM ({@code -XX:SharedArchiveFile},
 * {@code -XX:AOTCache}) is the server's, too.
 */
final class StartBench extends Part {
    private static final int FIRST_MILLIS = 8_000;
    private static final int WARM_UP_MILLIS = 25_000;
    private static final int WARM_MILLIS = 5_000;
    private static final int CLAIM_CONNECTIONS = 256;

    /** More than a server settles. */
    private static final int MOST_PER_SECOND = 40_000;

    private final List<Caller> members = BenchBed.members(SendsBench.SENDERS);
    private final Row start = trial.row("a server starts, until it serves", "ms");
    private final Row warmSends = trial.row("HTTP, packets of 5 sent, warm", "sends/s");
    private final Row firstSends =
            trial.row("  in the first 8 s", "sends/s").over(warmSends).atLeast(0.6);
    private final Row warmClaims = trial.row("HTTP, settled, warm", "claims/s");
    private final Row firstClaims =
            trial.row("  in the first 8 s", "claims/s").over(warmClaims).atLeast(0.6);

    StartBench(Trial trial) {
        super(trial);
        step("sends", this::sends);
        step("claims", this::claims);
    }

    @Override
    void run() throws Exception {
        try (ServerBed server = ServerBed.start(trial, SendsBench.MAX_HEAP_MIB, Map.of(), members)) {
            server.bed().fund();
            server.bed().fund(members, BenchBed.CNY);
        }
        runCold();
    }

    /** A server that has just started. */
    private final class Fresh implements AutoCloseable {
        private final ChildServer server;
        final byte[][] headers;

        Fresh() throws Exception {
            long begun = System.nanoTime();
            server = ChildServer.start(trial.directory, List.of("-Xmx" + SendsBench.MAX_HEAP_MIB + "m"), Map.of());
            start.add((System.nanoTime() - begun) / 1e6);
            headers = HttpCalls.headers(server.config(), members);
        }

        /** A cold server may refuse what it cannot settle in time; the row has what it settled. */
        double load(HttpLoad.Requests requests, int connections, int millis) throws Exception {
            HttpLoad.Outcome outcome =
                    new HttpLoad(List.of(server.port()), connections).run(requests, trial.time(millis));
            if (outcome.others + outcome.unanswered > 0) {
                trial.loadFault(outcome.troubles());
            }
            return outcome.donePerSecond();
        }

        double claim(List<PacketId> packets, int millis) throws Exception {
            return load(HttpCalls.inTurn(headers, packets, false), CLAIM_CONNECTIONS, millis);
        }

        @Override
        public void close() throws Exception {
            try (server;
                    BenchBed bed = BenchBed.beside(trial, server.config())) {
                bed.checkBooks();
            }
        }
    }

    private void sends() throws Exception {
        try (Fresh fresh = new Fresh()) {
            firstSends.add(fresh.load(HttpCalls.sends(fresh.headers), SendsBench.CONNECTIONS, FIRST_MILLIS));
            fresh.load(HttpCalls.sends(fresh.headers), SendsBench.CONNECTIONS, WARM_UP_MILLIS);
            warmSends.add(fresh.load(HttpCalls.sends(fresh.headers), SendsBench.CONNECTIONS, WARM_MILLIS));
        }
    }

    /** A share for each member. */
    private List<PacketId> packets(BenchBed bed, int millis) throws Exception {
        long claims = trial.time(millis).toMillis() * MOST_PER_SECOND / 1_000;
        return bed.send((int) (claims / members.size()) + 1, members.size());
    }

    /** On packets that were sent before the start. */
    private void claims() throws Exception {
        List<List<PacketId>> packets;
        try (BenchBed bed = BenchBed.start(trial, HongbaoConfig.forTrial(trial.directory, Map.of()))) {
            packets = List.of(packets(bed, FIRST_MILLIS), packets(bed, WARM_UP_MILLIS), packets(bed, WARM_MILLIS));
        }
        try (Fresh fresh = new Fresh()) {
            firstClaims.add(fresh.claim(packets.get(0), FIRST_MILLIS));
            fresh.claim(packets.get(1), WARM_UP_MILLIS);
            warmClaims.add(fresh.claim(packets.get(2), WARM_MILLIS));
        }
    }
}
