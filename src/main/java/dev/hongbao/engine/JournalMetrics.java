package dev.hongbao.engine;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The journal's metrics. One instance a registry, for all writers that follow one another. Thread-safe. */
final class JournalMetrics {
    private static final String MOVES = "Shards that this server took or handed over";

    final Counter recoveries;
    final Counter voids;
    final Counter failures;
    final DistributionSummary batchSize;
    final Timer settlement;
    final AtomicLong unsettled = new AtomicLong();
    final AtomicInteger live = new AtomicInteger();
    final AtomicInteger servers = new AtomicInteger();
    final Counter taken;
    final Counter handedOver;

    JournalMetrics(MeterRegistry registry, Shards shards) {
        recoveries = counter("hongbao.journal.recoveries", "New generations drawn: epoch changes")
                .register(registry);
        voids = counter(
                        "hongbao.journal.voids",
                        "Journal items that contradicted settled ones; more than 0 needs a look")
                .register(registry);
        failures = counter("hongbao.journal.failures", "Settlements that failed and were tried again")
                .register(registry);
        taken = counter("hongbao.shard.moves", MOVES).tag("to", "this").register(registry);
        handedOver = counter("hongbao.shard.moves", MOVES).tag("to", "another").register(registry);
        batchSize = DistributionSummary.builder("hongbao.journal.batch.items")
                .description("Claims or closes settled by one transaction")
                .register(registry);
        settlement = Timer.builder("hongbao.journal.settlement")
                .description("One settling transaction, with its wait for the one before")
                .register(registry);
        gauge("hongbao.journal.unsettled.entries", unsettled, "Journal entries known to the owner and not settled")
                .register(registry);
        gauge("hongbao.journal.live.shards", live, "Shards this server owns and settles")
                .register(registry);
        gauge("hongbao.server.members", servers, "Servers that are alive and share the shards, as this one sees them")
                .register(registry);
        for (int shard = 0; shard < shards.count(); shard++) {
            int id = shard;
            Gauge.builder("hongbao.shard.owned", shards, all -> all.owned().contains(id) ? 1 : 0)
                    .description("1 on the server that owns the shard")
                    .tag("shard", Integer.toString(id))
                    .register(registry);
        }
    }

    private static Counter.Builder counter(String name, String description) {
        return Counter.builder(name).description(description);
    }

    private static Gauge.Builder<?> gauge(String name, Number value, String description) {
        return Gauge.builder(name, value, Number::doubleValue).description(description);
    }

    /** Clears the gauges: the writer stops. */
    void stopped() {
        unsettled.set(0);
        live.set(0);
        servers.set(0);
    }
}
