package dev.hongbao.server;

import dev.hongbao.config.HongbaoConfig;
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
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * The registry of all meters. All times, and all sizes, are histograms with the same fixed buckets, so the servers of an installation add up. A record
 * costs a short search and some additions, and keeps no sample. Labels have fixed sets of values: calls of the contract, types of problems, names of
 * scripts and pools, numbers of shards.
 */
final class Meters {
    /** Upper bounds of times, in milliseconds. */
    private static final double[] MILLIS = {0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000
    };

    /** Upper bounds of sizes of batches. */
    private static final double[] SIZES = {1, 4, 16, 64, 256, 1_024, 4_096};

    /** Vert.x' name of the SQL client's times; {@link #STATEMENT} replaces it. */
    private static final String CLIENT_STATEMENT = "vertx.sql.processing.time";

    private static final String STATEMENT = "hongbao.sql.statement";

    /**
     * Each connection registers the first three under one name, and Prometheus reads only one of them. The last two have names that Prometheus
     * rejects, and other meters have their values.
     */
    private static final Set<String> LEFT_OUT = Set.of(
            "vertx.sql.processing.pending",
            "vertx.sql.resets",
            "vertx.sql.queue.pending",
            "process.cpu.time",
            "system.cpu.count");

    private Meters() {}

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

    /** Keeps Vert.x' metrics of pools and of the SQL client. The others cost on every request, and repeat ours. */
    static MetricsOptions ofVertx() {
        return new MicrometerMetricsOptions()
                .setEnabled(true)
                // By name, Vert.x keeps the first registry of a JVM: a second server would count into it.
                .setRegistryName(UUID.randomUUID().toString())
                .setLabels(EnumSet.of(Label.POOL_TYPE, Label.POOL_NAME, Label.NAMESPACE))
                .setDisabledMetricsCategories(EnumSet.complementOf(EnumSet.of(MetricsDomain.NAMED_POOLS)).stream()
                        .map(MetricsDomain::toCategory)
                        .collect(Collectors.toSet()));
    }

    /** Binds the meters of the JVM and the process. Takes some milliseconds, so not on an event loop. */
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

    /**
     * Registers {@code hongbao.queue.fill}, the ratio of each queue's meter to its limit.
     *
     * @param mostConnections the limit of the API's port: as configured, or fewer by the limit of open files
     */
    static void watchQueues(MeterRegistry registry, HongbaoConfig config, int mostConnections) {
        fill(
                registry,
                "claims",
                "hongbao.claim.waiting",
                Tags.empty(),
                config.domain().claim().maxWaiting());
        fill(
                registry,
                "plays",
                "hongbao.play.waiting",
                Tags.empty(),
                config.domain().claim().maxWaiting());
        fill(
                registry,
                "journal",
                "hongbao.shard.journal.entries",
                Tags.empty(),
                config.engine().journal().maxEntries());
        fill(
                registry,
                "postgres",
                "vertx.pool.queue.pending",
                Tags.of("pool_name", "hongbao-requests"),
                Pools.REQUESTS_QUEUE);
        fill(registry, "connections", "hongbao_http_connections", Tags.empty(), mostConnections);
    }

    private static void fill(MeterRegistry registry, String queue, String meter, Tags tags, int limit) {
        Gauge.builder("hongbao.queue.fill", registry, meters -> fullest(meters, meter, tags) / limit)
                .description(
                        "A queue's length divided by its limit: at 1 further calls get 503, but idle connections make room; for the journals, the fullest")
                .baseUnit("ratio")
                .tag("queue", queue)
                .register(registry);
    }

    private static double fullest(MeterRegistry registry, String meter, Tags tags) {
        return registry.find(meter).tags(tags).gauges().stream()
                .mapToDouble(Gauge::value)
                .filter(value -> !Double.isNaN(value))
                .max()
                .orElse(0);
    }
}
