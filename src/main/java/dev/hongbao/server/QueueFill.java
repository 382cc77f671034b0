package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

/**
 * How full the queues are on which a server's answers depend: when one is full, who comes is told 503. And the connections: when as many are
 * open as may be, the one idle longest makes room.
 */
final class QueueFill {
    private QueueFill() {}

    /**
     * Registers {@code hongbao.queue.fill}, read from the meters of the queues.
     *
     * @param mostConnections that the API's port takes: what is configured, or what the limit of open files leaves
     */
    static void watch(MeterRegistry registry, HongbaoConfig config, int mostConnections) {
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
                        "How full a queue is: 1 is its limit, and who comes then is told 503, but for connections, of which idle ones make room; of the journals the fullest")
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
