package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.packet.PacketId;
import io.vertx.sqlclient.Tuple;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
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
    private static final int HOT_SHARES = 100_000;
    private static final int MANY = 10_000;
    private static final long POLL_MILLIS = 20;

    private Sizes sizes;
    private final Findings findings = new Findings("claims");
    private final Measurement baseline = findings.measure("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Measurement burst;
    private final Measurement burstMany;
    private final Measurement drain;
    private final Measurement settled;
    private final Measurement settledMany;
    private final Measurement refused;

    private final BenchBed bed;
    private final Consumer<String> progress;
    private final List<Caller> members;

    /**
     * How many claims.
     *
     * @param hot at one packet after another
     * @param many at many packets at once
     */
    private record Sizes(int baseline, Hot hot, Many many, int settled, int refused) {
        /** @param shares of one packet; as many members there are */
        private record Hot(int shares, int burst) {}

        private record Many(int packets, int burst) {}

        /** So few that the server keeps who won; of more, each late claimer is looked up in Postgres. */
        int refusedShares() {
            return hot.shares / 10;
        }

        static Sizes of(Scale scale) {
            int shares = scale.of(HOT_SHARES, 1_000);
            int packets = scale.of(MANY, 100);
            return new Sizes(
                    scale.of(BASELINE_CLAIMS, 1_000),
                    new Hot(shares, scale.of(BURST, shares)),
                    new Many(packets, scale.of(BURST_MANY, packets)),
                    scale.of(SETTLED, Math.max(packets, shares)),
                    scale.of(REFUSED, 1_000));
        }
    }

    private Timeline settledOverTime = new Timeline(Storm.BUCKET_MILLIS);
    private Timeline settledManyOverTime = new Timeline(Storm.BUCKET_MILLIS);

    private ClaimsBench(BenchBed bed, Scale scale, Consumer<String> progress) {
        this.bed = bed;
        this.progress = progress;
        this.sizes = Sizes.of(scale);
        this.members = BenchPackets.members(sizes.hot.shares);
        this.burst = findings.measure(
                String.format(Locale.ROOT, "accepted, burst of %,d, hot", sizes.hot.burst), "claims/s", baseline, 6);
        this.burstMany = findings.measure(
                String.format(Locale.ROOT, "accepted, burst of %,d, %,d packets", sizes.many.burst, sizes.many.packets),
                "claims/s",
                baseline,
                0);
        this.drain = findings.measure("the burst's journal settled, hot", "claims/s", baseline, 0);
        this.settled = findings.measure("settled, hot", "claims/s", baseline, 0);
        this.settledMany = findings.measure(
                String.format(Locale.ROOT, "settled, %,d packets", sizes.many.packets), "claims/s", settled, 0.55);
        this.refused = findings.measure("drained, refused without Redis", "claims/s", baseline, 0);
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return (scale.rounds() + 1) * 5;
    }

    /** The configuration of a server that takes a whole burst, and many packets in short time. */
    static HongbaoConfig config(Path directory) {
        return HongbaoConfig.of(Map.of(
                "data.dir", directory.toString(),
                "reconcile.every", "0s",
                "packet.max-count", "100000",
                "claim.settle-timeout", "1m",
                "claim.max-waiting", "2000000",
                "postgres.pool-size", "16"));
    }

    /**
     * Runs all rounds.
     *
     * @param directory for the stores' files
     * @param scale its rounds count; a smaller one, before them, warms up
     * @param progress hears each step's name as it begins
     */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (BenchBed bed = BenchBed.start(config(directory))) {
            ClaimsBench bench = new ClaimsBench(bed, scale, progress);
            bench.findings.on(Machine.versions(bed.stores()));
            BenchPackets.fund(bed);
            bench.sizes = Sizes.of(scale.warmUp());
            bench.round(0);
            bench.sizes = Sizes.of(scale);
            for (int round = 1; round <= scale.rounds(); round++) {
                bench.round(round);
            }
            bench.plot();
            return bench.findings;
        }
    }

    private void plot() {
        findings.exhibits()
                .add(new Exhibits.Plot(
                        "Settled claims a second, the last round",
                        "seconds",
                        Exhibits.Axis.LINEAR,
                        "claims/s",
                        Exhibits.Axis.LINEAR,
                        List.of(
                                new Exhibits.Line("one packet", settledOverTime.perSecond()),
                                new Exhibits.Line("many packets", settledManyOverTime.perSecond()))));
    }

    private interface Step {
        void run(boolean counts) throws Exception;
    }

    /** In alternating order, so that a machine that slows down slows both sides down. */
    private void round(int round) throws Exception {
        List<Step> steps =
                new ArrayList<>(List.of(this::article1, this::hotBurst, this::manyBurst, this::settle, this::refuse));
        if (round % 2 == 1) {
            Collections.reverse(steps);
        }
        for (Step step : steps) {
            step.run(round > 0);
        }
        bed.checkBooks(findings);
    }

    private static void add(boolean counts, Measurement measurement, double value) {
        if (counts) {
            measurement.add(value);
        }
    }

    private void article1(boolean counts) throws Exception {
        progress.accept("article 1");
        add(counts, baseline, BaselineBench.article1(bed.stores(), sizes.baseline));
    }

    private void hotBurst(boolean counts) throws Exception {
        progress.accept("burst, hot");
        List<PacketId> packets = BenchPackets.send(bed, sizes.hot.burst / sizes.hot.shares, sizes.hot.shares);
        bed.acceptOnly();
        double sum = 0;
        for (PacketId packet : packets) {
            Storm<ClaimOutcome> storm = ClaimStorm.accepted(bed, List.of(packet), members, sizes.hot.shares);
            sum += 1 / storm.run();
        }
        add(counts, burst, packets.size() / sum);
        long begun = System.nanoTime();
        bed.settle();
        awaitClosed(packets);
        add(counts, drain, sizes.hot.burst / ((System.nanoTime() - begun) / 1e9));
    }

    private void manyBurst(boolean counts) throws Exception {
        progress.accept("burst, many packets");
        List<PacketId> packets = BenchPackets.send(bed, sizes.many.packets, sizes.many.burst / sizes.many.packets);
        bed.acceptOnly();
        add(
                counts,
                burstMany,
                ClaimStorm.accepted(bed, packets, members, sizes.many.burst).run());
        bed.settle();
        awaitClosed(packets);
    }

    private void settle(boolean counts) throws Exception {
        progress.accept("settled");
        double sum = 0;
        List<PacketId> hot = BenchPackets.send(bed, sizes.settled / sizes.hot.shares, sizes.hot.shares);
        for (PacketId packet : hot) {
            Storm<ClaimOutcome> storm = ClaimStorm.settled(bed, List.of(packet), members, sizes.hot.shares);
            sum += 1 / storm.run();
            settledOverTime = storm.ended();
        }
        add(counts, settled, hot.size() / sum);
        List<PacketId> many = BenchPackets.send(bed, sizes.many.packets, sizes.settled / sizes.many.packets);
        Storm<ClaimOutcome> storm = ClaimStorm.settled(bed, many, members, sizes.settled);
        add(counts, settledMany, storm.run());
        settledManyOverTime = storm.ended();
        awaitClosed(many);
    }

    private void refuse(boolean counts) throws Exception {
        progress.accept("drained");
        List<PacketId> packets = BenchPackets.send(bed, 1, sizes.refusedShares());
        ClaimStorm.settled(bed, packets, members, sizes.refusedShares()).run();
        awaitClosed(packets);
        List<Caller> late = members.subList(sizes.refusedShares(), sizes.hot.shares);
        add(
                counts,
                refused,
                ClaimStorm.refused(bed, packets, late, sizes.refused).run());
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
