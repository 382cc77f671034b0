package dev.hongbao.bench;

import dev.hongbao.command.Caller;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.packet.PacketId;
import io.vertx.sqlclient.Tuple;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** The claim service alone, against article 1's loop: accepted and settled, one hot packet and many. */
public final class ClaimsBench {
    private static final int BASELINE_CLAIMS = 100_000;
    private static final int BURST = 500_000;
    private static final int SETTLED = 100_000;
    private static final int BURST_MANY = 200_000;
    private static final int REFUSED = 500_000;

    /** So few that the server keeps who won; of more, each late claimer is looked up in Postgres. */
    private static final int REFUSED_SHARES = 10_000;

    private static final int MEMBERS = 100_000;
    private static final int HOT_SHARES = 100_000;
    private static final int MANY = 10_000;
    private static final long POLL_MILLIS = 20;

    private final Findings findings = new Findings("claims");
    private final Measurement baseline = findings.measure("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Measurement burst = findings.measure("accepted, burst of 500,000, hot", "claims/s", baseline, 6);
    private final Measurement burstMany =
            findings.measure("accepted, burst of 200,000, 10,000 packets", "claims/s", baseline, 4);
    private final Measurement drain = findings.measure("the burst's journal settled, hot", "claims/s", baseline, 0);
    private final Measurement settled = findings.measure("settled, hot", "claims/s", baseline, 0);
    private final Measurement settledMany = findings.measure("settled, 10,000 packets", "claims/s", settled, 0.5);
    private final Measurement refused = findings.measure("drained, refused without Redis", "claims/s", baseline, 0);

    private final BenchBed bed;
    private final Consumer<String> progress;
    private final List<Caller> members = BenchPackets.members(MEMBERS);

    private ClaimsBench(BenchBed bed, Consumer<String> progress) {
        this.bed = bed;
        this.progress = progress;
    }

    /** Steps that {@link #run} reports. */
    public static int steps(int rounds) {
        return (rounds + 1) * 5;
    }

    /** The configuration of a server that takes a whole burst. */
    static HongbaoConfig config(Path directory) {
        return HongbaoConfig.of(
                Map.of("data.dir", directory.toString(), "claim.settle-timeout", "1m", "claim.max-waiting", "2000000"));
    }

    /**
     * Runs all rounds.
     *
     * @param directory for the stores' files
     * @param rounds that count; one more, before them, warms up
     * @param progress hears each step's name as it begins
     */
    static Findings run(Path directory, int rounds, Consumer<String> progress) throws Exception {
        try (BenchBed bed = BenchBed.start(config(directory))) {
            ClaimsBench bench = new ClaimsBench(bed, progress);
            BenchPackets.fund(bed);
            bench.round(new Findings("warm-up"), 0, false);
            for (int round = 1; round <= rounds; round++) {
                bench.round(bench.findings, round, true);
            }
            return bench.findings;
        }
    }

    private interface Step {
        void run(boolean counts) throws Exception;
    }

    /** In alternating order, so that a machine that slows down slows both sides down. */
    private void round(Findings faults, int round, boolean counts) throws Exception {
        List<Step> steps =
                new ArrayList<>(List.of(this::article1, this::hotBurst, this::manyBurst, this::settle, this::refuse));
        if (round % 2 == 1) {
            Collections.reverse(steps);
        }
        for (Step step : steps) {
            step.run(counts);
        }
        bed.audit(counts ? findings : faults);
    }

    private static void add(boolean counts, Measurement measurement, double value) {
        if (counts) {
            measurement.add(value);
        }
    }

    private void article1(boolean counts) throws Exception {
        progress.accept("article 1");
        add(counts, baseline, new JedisLoop(bed.stores().redisUrl()).run(BASELINE_CLAIMS));
    }

    private void hotBurst(boolean counts) throws Exception {
        progress.accept("burst, hot");
        List<PacketId> packets = BenchPackets.send(bed, BURST / HOT_SHARES, HOT_SHARES);
        bed.acceptOnly();
        double sum = 0;
        for (PacketId packet : packets) {
            sum += 1
                    / ClaimStorm.accepted(bed, List.of(packet), members, HOT_SHARES)
                            .run();
        }
        add(counts, burst, packets.size() / sum);
        long begun = System.nanoTime();
        bed.settle();
        awaitClosed(packets);
        add(counts, drain, BURST / ((System.nanoTime() - begun) / 1e9));
    }

    private void manyBurst(boolean counts) throws Exception {
        progress.accept("burst, many packets");
        List<PacketId> packets = BenchPackets.send(bed, MANY, BURST_MANY / MANY);
        bed.acceptOnly();
        add(
                counts,
                burstMany,
                ClaimStorm.accepted(bed, packets, members, BURST_MANY).run());
        bed.settle();
        awaitClosed(packets);
    }

    private void settle(boolean counts) throws Exception {
        progress.accept("settled");
        double sum = 0;
        List<PacketId> hot = BenchPackets.send(bed, SETTLED / HOT_SHARES, HOT_SHARES);
        for (PacketId packet : hot) {
            sum += 1
                    / ClaimStorm.settled(bed, List.of(packet), members, HOT_SHARES)
                            .run();
        }
        add(counts, settled, hot.size() / sum);
        List<PacketId> many = BenchPackets.send(bed, MANY, SETTLED / MANY);
        add(counts, settledMany, ClaimStorm.settled(bed, many, members, SETTLED).run());
        awaitClosed(many);
    }

    private void refuse(boolean counts) throws Exception {
        progress.accept("drained");
        List<PacketId> packets = BenchPackets.send(bed, 1, REFUSED_SHARES);
        ClaimStorm.settled(bed, packets, members, REFUSED_SHARES).run();
        awaitClosed(packets);
        List<Caller> late = members.subList(REFUSED_SHARES, MEMBERS);
        add(counts, refused, ClaimStorm.refused(bed, packets, late, REFUSED).run());
    }

    /** Every share of these packets is claimed, so they close with the last settlement. */
    private void awaitClosed(List<PacketId> packets) throws Exception {
        UUID[] ids = packets.stream().map(PacketId::value).toArray(UUID[]::new);
        long open;
        do {
            Thread.sleep(POLL_MILLIS);
            open = BenchBed.await(bed.engine()
                            .pool()
                            .preparedQuery("select count(*) from packet where id = any($1) and closed_at is null")
                            .execute(Tuple.of(ids)))
                    .iterator()
                    .next()
                    .getLong(0);
        } while (open > 0);
    }
}
