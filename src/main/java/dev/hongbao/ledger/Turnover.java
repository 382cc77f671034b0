package dev.hongbao.ledger;

import dev.hongbao.store.postgres.Rows;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;

/**
 * The turnover by kind of transfer and asset, for business metrics. Postgres counts each transfer once and keeps the sums, so every server
 * shows the same numbers, also after a restart. A failed read keeps the last numbers. Thread-safe.
 */
public final class Turnover {
    private static final Duration EVERY = Duration.ofSeconds(10);

    /** Transfers counted by one statement, in some 0.1 s. */
    private static final long PIECE = 100_000;

    /** The first 50 assets, by their first transfer, have their own label. The others are {@code other}. */
    private static final String READ = """
        with asset as (select asset, row_number() over (order by min(place)) as n from turnover group by asset)
        select t.kind, case when a.n <= 50 then t.asset else 'other' end as asset,
               sum(t.transfers)::float8 as transfers, sum(t.amount)::float8 as amount
        from turnover as t join asset as a using (asset) group by 1, 2
        """;

    private static final String SUMS = """
        select kind, asset, transfers, least(amount, 9000000000000000000)::bigint as amount from turnover order by asset, place
        """;

    private final Pool pool;
    private final MeterRegistry registry;
    private final AtomicBoolean busy = new AtomicBoolean();
    private final Map<Label, Moved> all = new ConcurrentHashMap<>();

    /** The labels of one number. */
    private record Label(String kind, String asset) {}

    /** The values last read, for Prometheus, whose numbers are doubles. The books and {@link #sums} count in whole numbers. */
    private record Moved(double transfers, double amount) {
        static final Moved NOTHING = new Moved(0, 0);
    }

    /**
     * The sum of one kind and asset.
     *
     * @param amount minor units
     */
    public record Sum(String kind, String asset, long transfers, long amount) {}

    /** The sums of all kinds and assets in Postgres, by asset. */
    public static Future<List<Sum>> sums(Pool pool) {
        return pool.query(SUMS)
                .execute()
                .map(rows -> Rows.list(
                        rows,
                        row -> new Sum(
                                row.getString("kind"),
                                row.getString("asset"),
                                row.getLong("transfers"),
                                row.getLong("amount"))));
    }

    public Turnover(Pool pool, MeterRegistry registry) {
        this.pool = pool;
        this.registry = registry;
    }

    /** Updates {@code hongbao.turnover.transfers} and {@code hongbao.turnover.amount} while {@code vertx} runs. */
    public void watch(Vertx vertx) {
        vertx.setPeriodic(EVERY.toMillis(), tick -> look());
    }

    /** Counts new transfers and reads the sums. Returns at once while another call is under way. Never fails. */
    public Future<Void> look() {
        if (!busy.compareAndSet(false, true)) {
            return Future.succeededFuture();
        }
        return count() // the rest of the last call's piece, then the transfers since
                .compose(before -> count())
                .compose(counted -> pool.query(READ).execute())
                .onSuccess(rows -> rows.forEach(this::show))
                .transform(done -> {
                    busy.set(false);
                    return Future.succeededFuture();
                });
    }

    private Future<Void> count() {
        return pool.preparedQuery("select count_turnover($1)")
                .execute(Tuple.of(PIECE))
                .compose(rows -> rows.iterator().next().getBoolean(0) ? count() : Future.succeededFuture());
    }

    private void show(Row row) {
        Label label = new Label(row.getString("kind"), row.getString("asset"));
        if (all.put(label, new Moved(row.getDouble("transfers"), row.getDouble("amount"))) == null) {
            counter("hongbao.turnover.transfers", "Transfers", label, Moved::transfers);
            counter("hongbao.turnover.amount", "Their amount, in minor units", label, Moved::amount);
        }
    }

    private void counter(String name, String what, Label label, ToDoubleFunction<Moved> value) {
        FunctionCounter.builder(name, all, known -> value.applyAsDouble(known.getOrDefault(label, Moved.NOTHING)))
                .description(what + "; the same on every server")
                .tag("kind", label.kind)
                .tag("asset", label.asset)
                .register(registry);
    }
}
