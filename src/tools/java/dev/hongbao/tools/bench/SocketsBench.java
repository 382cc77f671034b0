package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.server.Stores;
import dev.hongbao.server.TokenRules;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.web.access.TokenSigner;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Many connections to one server: what an idle one costs, and how long an event takes to all members of a group. The clients
 * run on the same cores.
 */
final class SocketsBench {
    static final int CONNECTIONS = 10_000;
    static final int MEMBERS = 5_000;

    private static final double MAX_HEAP_BYTES = 12 * 1024;
    private static final double MAX_P99_MICROS = 250_000;

    /**
     * Connections and joins before the first look at the heap, so that what is made only once is there; and so many, since the
     * first thousands are opened by code that both JVMs are still compiling on the same cores: a few hundred a second.
     */
    private static final int WARM_UP = 2_000;

    private static final Duration OPEN_LIMIT = Duration.ofSeconds(40);
    private static final Duration JOIN_LIMIT = Duration.ofSeconds(15);
    private static final Duration EVENT_LIMIT = Duration.ofSeconds(3);
    private static final long PAUSE_MILLIS = 300;
    private static final int MAX_HEAP_MIB = 512;

    /** The load comes from few addresses and at once, which a real one does not. */
    private static final Map<String, String> OPTIONS = Map.of(
            "http.max-connections", "1000000",
            "socket.max-per-address", "1000000");

    private static final long DEPOSIT = 10_000_000_000L;

    /** Steps besides the rounds. */
    private static final int STEPS = 5;

    private final Findings findings = new Findings("sockets");
    private final Measurement opens = findings.once("connect and authenticate", "/s");
    private final Measurement heap = findings.once("heap per idle connection", "bytes", MAX_HEAP_BYTES);
    private final Measurement joins = findings.once("join a group, with its newest packets", "joins/s");
    private final Measurement joinedHeap = findings.once("heap per connection, once members joined", "bytes");
    private final Measurement first = findings.measure("send → event, the first member", "µs");
    private final Measurement p50 = findings.measure("send → event, p50 of the members", "µs");
    private final Measurement p99 = findings.atMost("send → event, p99 of the members", "µs", MAX_P99_MICROS);
    private final Measurement last = findings.measure("send → event, the last member", "µs");

    private final ChildServer server;
    private final Load load;
    private final TokenSigner signer;
    private final Consumer<String> progress;
    private int sends;

    /**
     * How much.
     *
     * @param connections idle ones, 1 or more
     * @param members of them in one group, at most {@code connections}
     * @param rounds events to all members that count, 1 or more
     */
    record Load(int connections, int members, int rounds) {
        /** The usual one, scaled. */
        static Load of(Scale scale) {
            return new Load(scale.of(CONNECTIONS, 2), scale.of(MEMBERS, 2), scale.rounds());
        }

        Load {
            if (members < 1 || connections < members || rounds < 1) {
                throw new IllegalArgumentException(
                        "bench sockets needs a round and a member at least, and no more members than connections");
            }
        }
    }

    /** Steps at a scale; see {@link Load#of}. */
    static int steps(Scale scale) {
        return steps(Load.of(scale));
    }

    private SocketsBench(ChildServer server, Load load, Consumer<String> progress) throws Exception {
        this.server = server;
        this.load = load;
        this.progress = progress;
        this.signer = new TokenSigner(
                TokenRules.secret(
                        server.config().web().token(), server.config().engine().data()),
                null,
                null,
                Clock.systemUTC());
    }

    /** Steps that {@link #run} reports. */
    static int steps(Load load) {
        return STEPS + load.rounds;
    }

    /**
     * About half a minute for 10,000 connections on two cores. Connections, joins and events have their time; what is not done
     * in it is a fault, and no more of it is begun.
     */
    static Findings run(Path directory, Load load, Consumer<String> progress) throws Exception {
        progress.accept("server");
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, OPTIONS)) {
            SocketsBench bench = new SocketsBench(server, load, progress);
            try (Stores stores = Stores.join(server.config())) {
                bench.findings.on(Machine.versions(stores.addresses()));
            }
            bench.deposit();
            bench.warmUp();
            bench.measure();
            return bench.findings;
        }
    }

    /** What member 0 sends comes from somewhere. */
    private void deposit() throws Exception {
        String token = signer.sign(new UserId("backend"), Set.of(), Role.SERVICE, Duration.ofHours(1));
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + server.port() + "/v1/accounts/member-000000000/deposits"))
                .header("Authorization", "Bearer " + token)
                .header("Idempotency-Key", "deposit")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"asset\":\"CNY\",\"amount\":" + DEPOSIT + "}"))
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new IllegalStateException("the deposit was refused: " + response.body());
        }
    }

    private void warmUp() throws Exception {
        progress.accept("warm-up");
        int count = Math.min(WARM_UP, load.connections);
        int members = Math.min(count, load.members);
        try (SocketCrowd crowd = new SocketCrowd(server.port(), signer, count)) {
            crowd.open(count, JOIN_LIMIT);
            crowd.join(members, JOIN_LIMIT);
            crowd.send(members, key(), EVENT_LIMIT);
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }

    private void measure() throws Exception {
        long before = server.heapBytes();
        try (SocketCrowd crowd = new SocketCrowd(server.port(), signer, load.connections)) {
            progress.accept("connections");
            SocketCrowd.Passed opened = crowd.open(load.connections, OPEN_LIMIT);
            opens.add(opened.perSecond());
            require(opened.count(), load.connections, "connections were opened in time");
            progress.accept("heap");
            heap.add((double) (server.heapBytes() - before) / opened.count());
            progress.accept("joins");
            int members = Math.min(load.members, opened.count() - opened.count() % 2);
            SocketCrowd.Passed joined = crowd.join(members, JOIN_LIMIT);
            joins.add(joined.perSecond());
            require(joined.count(), load.members, "members joined in time");
            joinedHeap.add((double) (server.heapBytes() - before) / opened.count());
            boolean complete = joined.count() == members;
            for (int round = 1; round <= load.rounds && complete; round++) {
                progress.accept("event " + round);
                complete = event(crowd, members);
            }
            if (crowd.lost() > 0) {
                findings.fault(crowd.lost() + " connections were lost");
            }
        }
    }

    /** Whether all members had it. */
    private boolean event(SocketCrowd crowd, int members) throws Exception {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        Histogram micros = crowd.send(members, key(), EVENT_LIMIT);
        int had = (int) micros.getTotalCount();
        require(had, members, "members had an event within " + EVENT_LIMIT.toSeconds() + " s");
        if (had > 0) {
            first.add(micros.getMinValue());
            p50.add(micros.getValueAtPercentile(50));
            p99.add(micros.getValueAtPercentile(99));
            last.add(micros.getMaxValue());
        }
        return had == members;
    }

    private void require(int count, int wanted, String what) {
        if (count < wanted) {
            findings.fault("only " + count + " of " + wanted + " " + what);
        }
    }

    private String key() {
        return "bench-" + sends++;
    }
}
