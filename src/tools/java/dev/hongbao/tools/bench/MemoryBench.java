package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.tools.local.ChildServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What a packet and a claim cost in Redis, and whether a server with a small heap starts with many open packets and serves
 * claims on any of them.
 */
final class MemoryBench {
    private static final int OPEN_PACKETS = 100_000;
    private static final int SHARES = 3;
    private static final int HOT_CLAIMS = 60_000;
    private static final int MEMBERS = 20_000;

    /** At any scale, so that what a journal's last node takes does not count. */
    private static final int LEAST_MEMBERS = 5_000;

    private static final int MAX_HEAP_MIB = 256;
    private static final double MAX_CLAIM_BYTES = 120;
    private static final double MAX_PACKET_BYTES = 180;
    private static final double MIB = 1024 * 1024;

    private static final int CONNECTIONS = 64;
    private static final double CLAIMS_PER_SECOND = 500;

    /** At the begin the claims wait: a server that was down first writes its open packets into Redis anew. */
    private static final int CLAIMS_MILLIS = 12_000;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Findings findings = new Findings("memory");
    private final Measurement packetBytes =
            findings.atMost("Redis, an open packet without claims", "bytes", MAX_PACKET_BYTES);
    private final Measurement claimBytes =
            findings.atMost("Redis, a settled claim, user ids of 16", "bytes", MAX_CLAIM_BYTES);
    private final Measurement idle;
    private final Measurement serving;
    private final Measurement start;

    private final Scale scale;
    private final int openPackets;
    private final Consumer<String> progress;
    private final List<Caller> members;
    private final List<PacketId> open = new ArrayList<>();

    private MemoryBench(Scale scale, Consumer<String> progress) {
        this.scale = scale;
        this.progress = progress;
        this.openPackets = scale.of(OPEN_PACKETS, 100);
        this.members = BenchPackets.members(scale.of(MEMBERS, LEAST_MEMBERS));
        String with = String.format(Locale.ROOT, "-Xmx%dm, %,d open packets", MAX_HEAP_MIB, openPackets);
        this.start = findings.once(with + ": start", "ms");
        this.idle = findings.once("  heap in use once started", "MiB");
        this.serving = findings.once("  heap in use after claims on any of them", "MiB", MAX_HEAP_MIB);
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 2 * scale.rounds() + 2;
    }

    /** As {@link ClaimsBench#run}; memory needs no warm-up. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        MemoryBench bench = new MemoryBench(scale, progress);
        try (BenchBed bed = BenchBed.start(ClaimsBench.config(directory))) {
            bench.findings.on(Machine.versions(bed.stores()));
            BenchPackets.fund(bed);
            RedisMemory redis = new RedisMemory(bed.stores().redisUrl());
            for (int round = 1; round <= scale.rounds(); round++) {
                bench.packets(bed, redis);
                bench.claims(bed, redis);
                bed.checkBooks(bench.findings);
            }
        }
        bench.serve(directory);
        return bench.findings;
    }

    private void packets(BenchBed bed, RedisMemory redis) throws Exception {
        progress.accept("open packets");
        long before = redis.settledBytes();
        List<PacketId> sent = BenchPackets.send(bed, openPackets / scale.rounds(), SHARES);
        packetBytes.add((double) (redis.settledBytes() - before) / sent.size());
        open.addAll(sent);
    }

    /** On packets of which a share is left, so that they stay open and Redis keeps who claimed. */
    private void claims(BenchBed bed, RedisMemory redis) throws Exception {
        progress.accept("claims");
        int each = members.size();
        int claims = Math.max(2 * each, scale.of(HOT_CLAIMS, each));
        List<PacketId> packets = BenchPackets.send(bed, claims / each, each + 1);
        long before = redis.settledBytes();
        for (PacketId packet : packets) {
            Storm<ClaimOutcome> storm = ClaimStorm.settled(bed, List.of(packet), members, each);
            storm.run();
        }
        claimBytes.add((double) (redis.settledBytes() - before) / claims);
    }

    private void serve(Path directory) throws Exception {
        progress.accept("server with a small heap");
        Map<String, String> options = Map.of("claim.settle-timeout", "20s");
        long begun = System.nanoTime();
        try (ChildServer server = ChildServer.start(directory, MAX_HEAP_MIB, options)) {
            start.add((System.nanoTime() - begun) / 1e6);
            idle.add(server.heapBytes() / MIB);
            progress.accept("claims on any");
            Duration length = Duration.ofMillis(scale.millis(CLAIMS_MILLIS));
            OpenLoop.Load load = new OpenLoop.Load(
                    List.of(server.port()),
                    CONNECTIONS,
                    Math.min(CLAIMS_PER_SECOND, open.size() * 1e3 / length.toMillis()),
                    Duration.ZERO,
                    length,
                    PATIENCE);
            OpenLoop.Outcome outcome =
                    OpenLoop.run(load, HttpClaims.spread(HttpClaims.headers(server.config(), members), open), 0);
            if (!outcome.troubles().isEmpty() || outcome.claimed.getTotalCount() == 0) {
                findings.fault("of the claims on any packet " + outcome.claimed.getTotalCount() + " were settled; "
                        + outcome.troubles());
            }
            serving.add(server.heapBytes() / MIB);
            try (BenchBed bed = BenchBed.beside(server.config())) {
                bed.checkBooks(findings);
            }
        }
    }
}
