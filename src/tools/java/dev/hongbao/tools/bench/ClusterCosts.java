package dev.hongbao.tools.bench;

import dev.hongbao.tools.bench.ClusterBed.Counts;
import dev.hongbao.tools.bench.ClusterBed.Cpu;
import java.time.Duration;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * What one settled claim, or one send, took in one load.
 *
 * @param cpu of cores, beyond what the processes take at rest
 * @param perSettlement claims in a transaction that settles
 * @param settlementMicros of a transaction that settles, with the disk and its wait for the one before
 * @param logBytes of Postgres' write-ahead log
 * @param perSecond answered while the load lasted
 * @param latency since each was due
 */
record ClusterCosts(
        Micros cpu, double perSettlement, double settlementMicros, double logBytes, double perSecond, Latency latency) {
    /** Microseconds of cores. */
    record Micros(double servers, double redis, double postgres) {
        double all() {
            return servers + redis + postgres;
        }
    }

    /** Microseconds. */
    record Latency(double p50, double p99) {}

    /** What all processes took while nobody asked for anything. */
    record Rest(Cpu cpu, Duration length) {
        double of(long micros, Duration time) {
            return (double) micros * time.toNanos() / length.toNanos();
        }
    }

    /** What one claim took on the average, of systems that had the same load at the same time. */
    static ClusterCosts mean(List<ClusterCosts> all) {
        return new ClusterCosts(
                new Micros(
                        mean(all, each -> each.cpu.servers),
                        mean(all, each -> each.cpu.redis),
                        mean(all, each -> each.cpu.postgres)),
                mean(all, each -> each.perSettlement),
                mean(all, each -> each.settlementMicros),
                mean(all, each -> each.logBytes),
                mean(all, each -> each.perSecond),
                new Latency(mean(all, each -> each.latency.p50), mean(all, each -> each.latency.p99)));
    }

    private static double mean(List<ClusterCosts> all, ToDoubleFunction<ClusterCosts> value) {
        return all.stream().mapToDouble(value).average().orElseThrow();
    }

    /** @param counts of the load, which took so long */
    static ClusterCosts of(Counts counts, OpenLoop.Outcome outcome, Duration length, Rest rest) {
        Histogram answered = outcome.claimed;
        double count = answered.getTotalCount();
        Cpu cpu = counts.cpu();
        Cpu resting = rest.cpu;
        return new ClusterCosts(
                new Micros(
                        Math.max(0, cpu.servers() - rest.of(resting.servers(), length)) / count,
                        Math.max(0, cpu.redis() - rest.of(resting.redis(), length)) / count,
                        Math.max(0, cpu.postgres() - rest.of(resting.postgres(), length)) / count),
                counts.settled() / counts.settlements(),
                counts.settlementMicros() / counts.settlements(),
                counts.logBytes() / count,
                outcome.claims.count(0, length.toNanos()) * 1e9 / length.toNanos(),
                new Latency(answered.getValueAtPercentile(50), answered.getValueAtPercentile(99)));
    }
}
