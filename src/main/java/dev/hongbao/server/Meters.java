package dev.hongbao.server;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.metrics.MetricsOptions;
import io.vertx.micrometer.Label;
import io.vertx.micrometer.MetricsDomain;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * The registry of all meters. Every time and every size is a histogram with the same fixed buckets, so that the servers of an
 * installation add up; to record one costs a search among some numbers and some additions, and keeps no sample. The values of all
 * labels are fixed sets: calls of the contract, types of problems, names of scripts and pools, numbers of shards.
 */
final class Meters {
    /** Upper bounds of times, in milliseconds. */
    private static final double[] MILLIS = {0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000
    };

    /** Upper bounds of sizes of batches. */
    private static final double[] SIZES = {1, 4, 16, 64, 256, 1_024, 4_096};

    /** How Vert.x names what its SQL client measures, and how we do. */
    private static final String CLIENT_STATEMENT = "vertx.sql.processing.time";

    private static final String STATEMENT = "hongbao.sql.statement";

    /**
     * Of the first ones each connection registers one under the same name, and one alone is told: wrong, and of no use. The last ones are
     * named as Prometheus does not want it, and others say the same.
     */
    private static final Set<String> LEFT_OUT = Set.of(
            "vertx.sql.processing.pending",
            "vertx.sql.resets",
            "vertx.sql.queue.pending",
            "process.cpu.time",
            "system.cpu.count");

    private Meters() {}

    /** An empty registry. */
    static PrometheusMeterRegistry registry() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                return LEFT_OUT.contains(id.getName()) ? MeterFilterReply.DENY : MeterFilterReply.NEUTRAL;
            }

            @Override
            public Meter.Id map(Meter.Id id) {
                return id.getName().equals(CLIENT_STATEMENT)
                        ? id.withName(STATEMENT).replaceTags(Tags.of("pool", pool(id)))
                        : id;
            }

            @Override
            public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                return id.getName().startsWith("hongbao.") ? buckets(id).merge(config) : config;
            }
        });
        return registry;
    }

    private static String pool(Meter.Id statement) {
        String pool = statement.getTag(Label.NAMESPACE.toString());
        return pool == null ? "" : pool;
    }

    private static DistributionStatisticConfig buckets(Meter.Id id) {
        double nanos = Duration.ofMillis(1).toNanos();
        return DistributionStatisticConfig.builder()
                .serviceLevelObjectives(
                        id.getType() == Meter.Type.TIMER
                                ? DoubleStream.of(MILLIS).map(ms -> ms * nanos).toArray()
                                : SIZES)
                .build();
    }

    /** Of Vert.x' own metrics only the pools' and the SQL client's: the rest costs on every request, and ours say it better. */
    static MetricsOptions ofVertx() {
        return new MicrometerMetricsOptions()
                .setEnabled(true)
                .setLabels(EnumSet.of(Label.POOL_TYPE, Label.POOL_NAME, Label.NAMESPACE))
                .setDisabledMetricsCategories(EnumSet.complementOf(EnumSet.of(MetricsDomain.NAMED_POOLS)).stream()
                        .map(MetricsDomain::toCategory)
                        .collect(Collectors.toSet()));
    }

    /** What is the JVM's and the process' own. Takes some milliseconds, so not on an event loop. */
    static void bindProcess(MeterRegistry registry) {
        String version = Meters.class.getPackage().getImplementationVersion();
        List.of(
                        new JvmMemoryMetrics(),
                        new JvmGcMetrics(),
                        new JvmThreadMetrics(),
                        new ProcessorMetrics(),
                        new FileDescriptorMetrics(),
                        new UptimeMetrics())
                .forEach(binder -> binder.bindTo(registry));
        Gauge.builder("hongbao.build.info", () -> 1)
                .description("1; its labels say what runs")
                .tag("version", version == null ? "development" : version)
                .tag("java", Runtime.version().toString())
                .register(registry);
    }
}
