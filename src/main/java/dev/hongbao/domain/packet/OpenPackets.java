package dev.hongbao.domain.packet;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts open packets for the operator, every few seconds and never beyond {@link #MOST}, so its cost is bounded. A failed count keeps the
 * last number.
 */
public final class OpenPackets {
    private static final Duration EVERY = Duration.ofSeconds(5);
    private static final long MOST = 100_000;
    private static final String COUNT =
            "select count(*) from (select 1 from packet where closed_at is null limit " + MOST + ") as open";

    private OpenPackets() {}

    /** Registers {@code hongbao.packet.open} and updates it while {@code vertx} runs. */
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
