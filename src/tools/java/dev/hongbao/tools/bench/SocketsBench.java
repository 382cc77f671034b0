package dev.hongbao.tools.bench;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.tools.local.ApiClient;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Many WebSockets to one server: the heap of an idle one, and the time of an event to all members of a group. The clients share the cores. */
final class SocketsBench {
    /** The first thousands open slowly, while both JVMs compile, and create what exists once. */
    private static final int WARM_UP = 2_000;

    private static final long PAUSE_MILLIS = 300;
    private static final int MAX_HEAP_MIB = 512;

    /** The load has one address and comes at once. */
    private static final Map<String, String> OPTIONS =
            Map.of("http.max-connections", "1000000", "socket.max-per-address", "1000000");

    private SocketsBench() {}

    static void run(Trial trial) throws Exception {
        int connections = trial.size(10_000, 4);
        int members = connections / 2;
        Row heap = trial.row("heap of an idle connection", "bytes").once().atMost(12 * 1024);
        Row p99 =
                trial.row("from a send to its event, p99 of the members", "µs").atMost(250_000);
        try (ServerBed server = ServerBed.start(trial, MAX_HEAP_MIB, OPTIONS, List.of())) {
            TokenSigner signer = ApiClient.signer(server.bed().config);
            server.bed().fund(BenchBed.members(1), BenchBed.CNY);
            trial.step("warm-up");
            int port = server.process().port();
            int few = Math.min(WARM_UP, members);
            try (SocketCrowd crowd = new SocketCrowd(port, signer, few)) {
                crowd.open();
                crowd.join(few);
                crowd.send(few, "warm-up");
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            long before = server.process().heapBytes();
            try (SocketCrowd crowd = new SocketCrowd(port, signer, connections)) {
                trial.step("connections");
                crowd.open();
                heap.add((double) (server.process().heapBytes() - before) / connections);
                trial.step("joins");
                crowd.join(members);
                for (int round = 0; round < trial.rounds; round++) {
                    trial.step("event");
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                    p99.add(crowd.send(members, "round-" + round).getValueAtPercentile(99));
                }
                if (crowd.lost() > 0) {
                    trial.fault(crowd.lost() + " connections were lost");
                }
            }
        }
    }
}
