package dev.hongbao.store.postgres;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The monthly partitions of the growing tables (transfers, amounts, plays). They are made before their month begins. A row
 * without its partition goes into the partition {@code _other}, so no write waits for this. Every server looks; one at a time
 * makes. Thread-safe.
 */
public final class Months {
    private static final Logger LOG = LoggerFactory.getLogger(Months.class);

    private static final String MISSING = "select parent, month, held from missing_months($1)";
    private static final String MAKE = "select make_month($1, $2)";
    private static final String ANALYZE = "select analyze_next_month_table($1)";
    private static final String OTHERS = "select rows_of_no_month()";

    private final SqlClient sql;
    private final AtomicLong missing = new AtomicLong();
    private final AtomicLong others = new AtomicLong();

    /** @param registry gets the number of missing partitions, and of rows in none */
    public Months(SqlClient sql, MeterRegistry registry) {
        this.sql = sql;
        Gauge.builder("hongbao.month.missing", missing, AtomicLong::get)
                .description("Missing monthly partitions, of the last month, this one and the next two")
                .register(registry);
        Gauge.builder("hongbao.month.other.rows", others, AtomicLong::get)
                .description("Rows outside the monthly partitions; counted to 10,000 for each table")
                .register(registry);
    }

    /**
     * A missing partition.
     *
     * @param table its table
     * @param month its first day
     * @param held whether {@code _other} has rows of the month: a few move when the partition is made, many prevent it
     */
    public record Missing(String table, LocalDate month, boolean held) {}

    /** The missing partitions of the month of a moment, the month before it and the next two. */
    public static Future<List<Missing>> missing(SqlClient sql, OffsetDateTime moment) {
        return sql.preparedQuery(MISSING)
                .execute(Tuple.of(moment))
                .map(rows -> rows.stream().map(Months::missing).toList());
    }

    private static Missing missing(Row row) {
        return new Missing(row.getString("parent"), row.getLocalDate("month"), row.getBoolean("held"));
    }

    /** The rows in the partitions {@code _other}; counted to 10,000 for each table. */
    public static Future<Long> others(SqlClient sql) {
        return sql.query(OTHERS).execute().map(rows -> rows.iterator().next().getLong(0));
    }

    /**
     * Makes the missing partitions. Idempotent. A partition that cannot be made now, because of a long read or an outage, is left
     * for the next call.
     *
     * @param now by Postgres' clock
     * @return never fails
     */
    public Future<Void> makeAhead(OffsetDateTime now) {
        List<Missing> left = new ArrayList<>();
        return missing(sql, now)
                .compose(months -> {
                    Future<Void> made = Future.succeededFuture();
                    for (Missing month : months) {
                        made = made.compose(before -> make(month, left));
                    }
                    return made;
                })
                .compose(made -> others(sql))
                .onSuccess(rows -> {
                    missing.set(left.size());
                    others.set(rows);
                })
                .<Void>mapEmpty()
                .recover(away -> {
                    LOG.warn("the next monthly partitions were not checked: {}", away.toString());
                    return Future.succeededFuture();
                });
    }

    /**
     * Renews Postgres' statistics of the tables that have doubled.
     *
     * @param sql must allow statements of minutes
     * @return never fails
     */
    public static Future<Void> analyze(SqlClient sql) {
        return analyzeAfter(sql, "").recover(later -> {
            LOG.warn("the monthly tables were not analyzed: {}", later.toString());
            return Future.succeededFuture();
        });
    }

    private static Future<Void> analyzeAfter(SqlClient sql, String table) {
        return sql.preparedQuery(ANALYZE).execute(Tuple.of(table)).compose(rows -> {
            String analyzed = rows.iterator().next().getString(0);
            return analyzed == null ? Future.succeededFuture() : analyzeAfter(sql, analyzed);
        });
    }

    private Future<Void> make(Missing month, List<Missing> left) {
        return sql.preparedQuery(MAKE)
                .execute(Tuple.of(month.table(), month.month()))
                .onSuccess(made -> LOG.debug("made the partition of {} for {}", month.month(), month.table()))
                .<Void>mapEmpty()
                .recover(fault -> {
                    left.add(month);
                    if (month.held()) {
                        LOG.warn(
                                "rows of {} of {} are in {}_other: the month has no partition",
                                month.month(),
                                month.table(),
                                month.table());
                    }
                    LOG.warn(
                            "the partition of {} for {} is not made yet, trying again: {}",
                            month.month(),
                            month.table(),
                            fault.toString());
                    return Future.succeededFuture();
                });
    }
}
