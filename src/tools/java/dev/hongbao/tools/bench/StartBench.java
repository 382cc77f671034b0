package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.Trial.Step;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import java.util.List;
import java.util.Map;

/**
 * The time of a start, and sends over HTTP in its first seconds against the same load when the code is compiled. Each round starts
 * a process on stores that hold data. A class archive of this JVM ({@code -XX:SharedArchiveFile}, {@code -XX:AOTCache}) is the
 * server's, too.
 */
final class StartBench extends Part {
    private static final int MILLIS = 5_000;
    private static final int WARM_UP_MILLIS = 25_000;

    private final List<Caller> members = BenchBed.members(SendsBench.SENDERS);
    private final Row start = trial.row("a server starts, until it serves", "ms");
    private final Row warm = trial.row("HTTP, packets of 5 sent, warm", "sends/s");
    private final Row first = trial.row("  in the first seconds", "sends/s").over(warm);

    private StartBench(Trial trial) {
        super(trial);
    }

    static void run(Trial trial) throws Exception {
        StartBench bench = new StartBench(trial);
        try (ServerBed bed = bench.server()) {
            bed.bed().fund(bench.members, new Asset("CNY"));
        }
        trial.coldRounds(new Step("a start", bench::round));
    }

    private ServerBed server() throws Exception {
        return ServerBed.start(trial, SendsBench.MAX_HEAP_MIB, Map.of(), members);
    }

    private void round() throws Exception {
        long begun = System.nanoTime();
        try (ChildServer server = ChildServer.start(trial.directory, SendsBench.MAX_HEAP_MIB, Map.of())) {
            start.add((System.nanoTime() - begun) / 1e6);
            byte[][] headers = HttpCalls.headers(server.config(), members);
            first.add(send(server, headers, MILLIS));
            send(server, headers, WARM_UP_MILLIS);
            warm.add(send(server, headers, MILLIS));
            try (BenchBed bed = BenchBed.beside(trial, server.config())) {
                bed.checkBooks();
            }
        }
    }

    private double send(ChildServer server, byte[][] headers, int millis) throws Exception {
        HttpLoad.Outcome outcome = new HttpLoad(List.of(server.port()), SendsBench.CONNECTIONS)
                .run(HttpCalls.sends(headers), trial.time(millis));
        trial.loadFault(outcome.troubles());
        return outcome.donePerSecond();
    }
}
