package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.tools.local.ChildServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * How long a server takes to start, and what it does in its first seconds, while its code is not compiled yet: packets of five shares
 * that are sent over HTTP, against the same load when it is warm. Each round is a start of its own, in a process of its own, on stores
 * that hold data. The load comes from {@code wrk}.
 *
 * <p>When this JVM has an archive of classes ({@code -XX:SharedArchiveFile} or {@code -XX:AOTCache}), the server has it, too.
 */
final class StartBench {
    private static final int SENDERS = 500;
    private static final int CONNECTIONS = 64;
    private static final int MAX_HEAP_MIB = 1_024;

    /** Those measured first, and as many when it is warm. */
    private static final int SECONDS = 5;

    /** In between. */
    private static final int WARM_UP_SECONDS = 25;

    private final Findings findings = new Findings("start");
    private final Measurement start = findings.measure("a server starts, until it serves", "ms");
    private final Measurement warm = findings.measure("HTTP, packets of 5 sent, warm", "sends/s");
    private final Measurement first = findings.measure("  in the first seconds", "sends/s", warm, 0);

    private final Wrk wrk;
    private final Scale scale;
    private final Consumer<String> progress;

    private StartBench(Path files, Scale scale, Consumer<String> progress) {
        this.wrk = new Wrk(files);
        this.scale = scale;
        this.progress = progress;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 1 + scale.rounds();
    }

    /** As {@link HttpBench#run}. */
    static Findings run(Path directory, Path results, Scale scale, Consumer<String> progress) throws Exception {
        Path files = results.resolve("load");
        StartBench bench = new StartBench(files, scale, progress);
        List<Caller> members = BenchPackets.members(SENDERS);
        progress.accept("wallets");
        Path tokens;
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, Map.of())) {
            tokens = HttpBed.tokens(files, server.config(), members);
            try (BenchBed bed = BenchBed.beside(server.config())) {
                bench.findings.on(Machine.versions(bed.stores()));
                BenchPackets.fund(bed, members);
            }
        }
        for (int round = 0; round < scale.rounds(); round++) {
            bench.round(directory, tokens);
        }
        return bench.findings;
    }

    private void round(Path directory, Path tokens) throws Exception {
        progress.accept("a start");
        long begun = System.nanoTime();
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, Map.of())) {
            start.add((System.nanoTime() - begun) / 1e6);
            first.add(load(server, tokens, SECONDS));
            load(server, tokens, WARM_UP_SECONDS);
            warm.add(load(server, tokens, SECONDS));
            try (BenchBed bed = BenchBed.beside(server.config())) {
                bed.checkBooks(findings);
            }
        }
    }

    /** Sends a second. */
    private double load(ChildServer server, Path tokens, int seconds) throws Exception {
        Path script = wrk.sends(tokens, BenchPackets.GROUPS, false);
        Wrk.Outcome outcome = wrk.run(server.port(), script, CONNECTIONS, scale.of(seconds, 1));
        if (outcome.refused() > 0 || outcome.failed() > 0) {
            findings.fault(String.format(
                    Locale.ROOT, "%,d refused, %,d without an answer", outcome.refused(), outcome.failed()));
        }
        return outcome.perSecond();
    }
}
