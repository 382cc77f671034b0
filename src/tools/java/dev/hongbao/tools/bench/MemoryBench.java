package dev.hongbao.tools.bench;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Jedis;

/**
 * The bytes that a packet and a claim take in Redis. Then a server with a small heap starts with many open packets and serves
 * claims on any of them.
 */
final class MemoryBench extends Part {
    private static final int SHARES = 3;

    /** Packets before the first measurement. They stay open. */
    private static final int COLD_PACKETS = 100;

    /** At any scale, so that the last node of a journal does not count. */
    private static final int LEAST_MEMBERS = 5_000;

    private static final int MAX_HEAP_MIB = 256;
    private static final int CONNECTIONS = 64;
    private static final double CLAIMS_PER_SECOND = 500;

    /** The first claims wait: a server that was down writes its open packets into Redis again. */
    private static final int CLAIMS_MILLIS = 12_000;

    private static final long PAUSE_MILLIS = 150;
    private static final int PAUSES = 40;

    private final int openPackets = trial.size(100_000, 100);
    private final List<Caller> members = BenchBed.members(trial.size(20_000, LEAST_MEMBERS));
    private final List<PacketId> open = new ArrayList<>();
    private final Row packetBytes =
            trial.row("Redis, an open packet without claims", "bytes").atMost(180);
    private final Row claimBytes =
            trial.row("Redis, a settled claim, user ids of 16", "bytes").atMost(120);
    private final Row serving = trial.row("-Xmx256m, 100,000 open packets: heap after claims on any", "MiB")
            .once()
            .atMost(MAX_HEAP_MIB);

    MemoryBench(Trial trial) {
        super(trial);
    }

    @Override
    void run() throws Exception {
        try (BenchBed bed = BenchBed.start(trial)) {
            bed.fund();
            // Redis allocates a histogram of latencies when it runs a command for the first time.
            bed.claim(bed.send(COLD_PACKETS, SHARES), members, COLD_PACKETS, ClaimOutcome.Kind.CLAIMED);
            step("open packets", () -> packets(bed));
            step("claims", () -> claims(bed));
            step("books", bed::checkBooks);
            runCold();
        }
        trial.step("server with a small heap");
        serve();
    }

    private void packets(BenchBed bed) throws Exception {
        long before = redisBytes(bed);
        List<PacketId> sent = bed.send(openPackets / trial.rounds, SHARES);
        packetBytes.add((double) (redisBytes(bed) - before) / sent.size());
        open.addAll(sent);
    }

    /** On packets that keep a share: they stay open, and Redis remembers their winners. */
    private void claims(BenchBed bed) throws Exception {
        int each = members.size();
        List<PacketId> packets = bed.send(Math.max(2, trial.size(60_000, each) / each), each + 1);
        long before = redisBytes(bed);
        for (PacketId packet : packets) {
            bed.claim(List.of(packet), members, each, ClaimOutcome.Kind.CLAIMED);
        }
        claimBytes.add((double) (redisBytes(bed) - before) / packets.size() / each);
    }

    private void serve() throws Exception {
        try (ServerBed bed = ServerBed.start(trial, MAX_HEAP_MIB, Map.of("claim.settle-timeout", "20s"), members)) {
            Collections.shuffle(open, new SecureRandom());
            Duration length = trial.time(CLAIMS_MILLIS);
            bed.load(CONNECTIONS)
                    .perSecond(Math.min(CLAIMS_PER_SECOND, open.size() * 1e3 / length.toMillis()))
                    .patience(Duration.ofSeconds(20))
                    .run(HttpCalls.across(bed.headers(), open, 1), length)
                    .in(trial);
            serving.add(bed.heapMiB());
            bed.bed().checkBooks();
        }
    }

    /** Waits until Redis is at rest: it trims a journal a little after the settlement. */
    private static long redisBytes(BenchBed bed) throws InterruptedException {
        try (Jedis redis = new Jedis(URI.create(bed.stores().redisUrl()))) {
            long before = bytes(redis);
            for (int i = 0; i < PAUSES; i++) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                long now = bytes(redis);
                if (Math.abs(now - before) < Math.max(1_024, before / 10_000)) {
                    return now;
                }
                before = now;
            }
            return before;
        }
    }

    /** Used memory without the buffers of the log and of the clients, which come and go. */
    private static long bytes(Jedis redis) {
        String info = redis.info("memory");
        return value(info, "used_memory") - value(info, "mem_aof_buffer") - value(info, "mem_clients_normal");
    }

    private static long value(String info, String name) {
        return Long.parseLong(info.replaceAll("(?s).*\\b" + name + ":(\\d+).*", "$1"));
    }
}
