package dev.hongbao.domain.packet;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the packets that are not over, for the operator: a look every few seconds that never counts further than
 * {@link #MOST}, so that it costs little however many there are. A look that fails keeps the number before.
 */
public final class OpenPackets {
    private static final Duration EVERY = Duration.ofSeconds(5);
    private static final long MOST = 100_000;
    private static final String COUNT =
            "select count(*) from (select 1 from packet where closed_at is null limit " + MOST + ") as open";

    private OpenPackets() {}

    /** Registers {@code hongbao.packet.open} and keeps it up to date as long as {@code vertx} runs. */
    public static void watch(Vertx vertx, Pool pool, MeterRegistry registry) {
        AtomicLong open = new AtomicLong();
        Gauge.builder("hongbao.packet.open", open, AtomicLong::get)
                .description("Packets that are not over, at most " + MOST)
                .register(registry);
        look(pool, open);
        vertx.setPeriodic(EVERY.toMillis(), tick -> look(pool, open));
    }

    private static void look(Pool pool, AtomicLong open) {
        pool.query(COUNT)
                .execute()
                .onSuccess(rows -> open.set(rows.iterator().next().getLong(0)));
    }
}
