package dev.hongbao.engine.writer;

import dev.hongbao.engine.shard.Shards;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The journal's metrics. One instance a registry, for all writers that follow one another. Thread-safe. */
public final class JournalMetrics {
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

    public JournalMetrics(MeterRegistry registry, Shards shards) {
        recoveries = Counter.builder("hongbao.journal.recoveries")
                .description("New generations drawn: epoch changes")
                .register(registry);
        voids = Counter.builder("hongbao.journal.voids")
                .description("Journal items that contradicted settled ones; more than 0 needs a look")
                .register(registry);
        failures = Counter.builder("hongbao.journal.failures")
                .description("Settlements that failed and were tried again")
                .register(registry);
        batchSize = DistributionSummary.builder("hongbao.journal.batch.items")
                .description("Claims or closes settled by one transaction")
                .register(registry);
        settlement = Timer.builder("hongbao.journal.settlement")
                .description("One settling transaction, with its wait for the one before")
                .register(registry);
        Gauge.builder("hongbao.journal.unsettled.entries", unsettled, AtomicLong::get)
                .description("Journal entries known to the owner and not settled")
                .register(registry);
        Gauge.builder("hongbao.journal.live.shards", live, AtomicInteger::get)
                .description("Shards this server owns and settles")
                .register(registry);
        Gauge.builder("hongbao.server.members", servers, AtomicInteger::get)
                .description("Servers that are alive and share the shards, as this one sees them")
                .register(registry);
        for (int shard = 0; shard < shards.count(); shard++) {
            int id = shard;
            Gauge.builder("hongbao.shard.owned", shards, all -> all.owned().contains(id) ? 1 : 0)
                    .description("1 on the server that owns the shard")
                    .tag("shard", Integer.toString(id))
                    .register(registry);
        }
        taken = Counter.builder("hongbao.shard.moves")
                .description("Shards that this server took or handed over")
                .tag("to", "this")
                .register(registry);
        handedOver = Counter.builder("hongbao.shard.moves")
                .description("Shards that this server took or handed over")
                .tag("to", "another")
                .register(registry);
    }

    /** Clears the gauges: the writer stops. */
    void stopped() {
        unsettled.set(0);
        live.set(0);
        servers.set(0);
    }
}
