package dev.hongbao.tools.bench;

import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.tools.bench.ClusterBed.Counts;
import dev.hongbao.tools.bench.ClusterBed.Cpu;
import dev.hongbao.tools.bench.ClusterCosts.Rest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The loads on one {@link ClusterBed}, in the order in which they are made. Their packets are sent before, since that is work, too.
 * Confined to one thread.
 */
final class ClusterLoads {
    /** More than can be settled here, so that each connection always has a next claim: the closed loop of the warm-up and of the capacity. */
    static final int MOST = 20_000;

    /** Of each server: what grows with the servers is also who asks them. */
    private static final int CONNECTIONS = 96;

    private static final int MEMBERS = 2_000;
    private static final int SHARES = 50;
    private static final int WARM_UP_MILLIS = 15_000;
    private static final int BEGIN_MILLIS = 1_000;
    private static final int REST_MILLIS = 3_000;
    private static final int LENGTH_MILLIS = 5_000;

    /** Longer: three systems are more restless than one. */
    private static final int BESIDE_OTHERS_MILLIS = 15_000;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final ClusterBed bed;
    private final Findings findings;
    private final Scale scale;
    private final byte[][] headers;
    private final Deque<List<PacketId>> packets;
    private Rest rest = new Rest(new Cpu(0, 0, 0), Duration.ofSeconds(1));

    /** Claims that there are packets for. */
    private record Claims(int perSecond, int millis) {}

    private static final Claims WARM_UP = new Claims(MOST, WARM_UP_MILLIS);

    private ClusterLoads(ClusterBed bed, Findings findings, Scale scale, List<Claims> all) throws Exception {
        this.bed = bed;
        this.findings = findings;
        this.scale = scale;
        this.packets =
                new ArrayDeque<>(bed.send(all.stream().map(this::packetsFor).toList(), SHARES));
        this.headers = HttpClaims.headers(bed.config(), BenchPackets.members(MEMBERS));
    }

    /** {@link #warmUp}, and for each number of servers {@link #begin} and {@link #measure} of each rate and of {@link #MOST}. */
    static ClusterLoads ofCluster(ClusterBed bed, Findings findings, Scale scale) throws Exception {
        List<Claims> all = new ArrayList<>(List.of(WARM_UP));
        for (int servers = 0; servers < ClusterBench.SERVERS; servers++) {
            all.add(new Claims(ClusterBench.BUSY, BEGIN_MILLIS));
            for (int rate : ClusterBench.RATES) {
                all.add(new Claims(rate, LENGTH_MILLIS));
            }
            all.add(new Claims(MOST, LENGTH_MILLIS));
        }
        return new ClusterLoads(bed, findings, scale, all);
    }

    /** {@link #warmUp} and {@link #measureBesideOthers}. */
    static ClusterLoads ofOne(ClusterBed bed, Findings findings, Scale scale) throws Exception {
        return new ClusterLoads(
                bed, findings, scale, List.of(WARM_UP, new Claims(ClusterBench.EASY, BESIDE_OTHERS_MILLIS)));
    }

    /** How many claim side by side. */
    static int connections(int servers) {
        return servers * CONNECTIONS;
    }

    private int packetsFor(Claims claims) {
        return (int) (claims.perSecond * millis(claims.millis).toMillis() / 1_000 / SHARES) + 1;
    }

    private Duration millis(int usual) {
        return Duration.ofMillis(scale.millis(usual));
    }

    private OpenLoop.Outcome claim(int perSecond, Duration length) throws IOException {
        return load(perSecond, length, HttpClaims.across(headers, packets.remove(), SHARES));
    }

    private OpenLoop.Outcome load(int perSecond, Duration length, OpenLoop.Requests requests) throws IOException {
        List<Integer> ports = bed.ports();
        OpenLoop.Load load =
                new OpenLoop.Load(ports, connections(ports.size()), perSecond, Duration.ZERO, length, PATIENCE);
        OpenLoop.Outcome outcome = OpenLoop.run(load, requests, 0);
        if (!outcome.troubles().isEmpty()) {
            findings.fault(outcome.troubles());
        }
        return outcome;
    }

    void warmUp() throws IOException {
        claim(MOST, millis(WARM_UP_MILLIS));
    }

    /** For servers that have just got the others' shards. */
    void begin() throws IOException {
        claim(ClusterBench.BUSY, millis(BEGIN_MILLIS));
    }

    /** What the processes take while nobody claims: from now on it does not count. */
    Rest rest() throws Exception {
        Duration length = millis(REST_MILLIS);
        Counts before = bed.counts();
        TimeUnit.MILLISECONDS.sleep(length.toMillis());
        rest = new Rest(bed.counts().since(before).cpu(), length);
        return rest;
    }

    /** Claims; of {@link #MOST} as many as the servers can settle while each connection has one under way. */
    ClusterCosts measure(int rate) throws Exception {
        return measure(rate, millis(LENGTH_MILLIS));
    }

    /** Claims, at the easy rate of one server. */
    ClusterCosts measureBesideOthers() throws Exception {
        return measure(ClusterBench.EASY, millis(BESIDE_OTHERS_MILLIS));
    }

    private ClusterCosts measure(int rate, Duration length) throws Exception {
        Counts before = bed.counts();
        OpenLoop.Outcome outcome = claim(rate, length);
        return ClusterCosts.of(bed.counts().since(before), outcome, length, rest);
    }

    ClusterCosts measureSends() throws Exception {
        Duration length = millis(LENGTH_MILLIS);
        load(MOST, millis(BEGIN_MILLIS), new HttpSends(bed.config()));
        Counts before = bed.counts();
        OpenLoop.Outcome outcome = load(MOST, length, new HttpSends(bed.config()));
        return ClusterCosts.of(bed.counts().since(before), outcome, length, rest);
    }
}
