package dev.hongbao.engine.postgres;

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
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a month of the tables that only grow (transfers, amounts, plays): made before their month comes. Without its part a row
 * goes into the table's part {@code _other}, so nothing waits for this. Every server looks; one at a time makes. Thread-safe.
 */
public final class Months {
    private static final Logger LOG = LoggerFactory.getLogger(Months.class);

    private static final String MISSING = "select parent, month, held from missing_months($1)";
    private static final String MAKE = "select make_month($1, $2)";
    private static final String ANALYZE = "select analyze_month_tables()";
    private static final String OTHERS = "select rows_of_no_month()";

    private final SqlClient sql;
    private final AtomicLong missing = new AtomicLong();
    private final AtomicLong others = new AtomicLong();

    /** @param registry gets how many parts are missing, and how many rows are in none */
    public Months(SqlClient sql, MeterRegistry registry) {
        this.sql = sql;
        Gauge.builder("hongbao.month.missing", missing, AtomicLong::get)
                .description("Parts of tables, of the last month, this one and the next two, that are not made")
                .register(registry);
        Gauge.builder("hongbao.month.other.rows", others, AtomicLong::get)
                .description("Rows whose id is of no month that has a part; counted to 10,000 for each table")
                .register(registry);
    }

    /**
     * A part that is not there.
     *
     * @param table whose
     * @param month its first day
     * @param held rows of the month stand in {@code _other}: a few move into the part when it is made, many keep it from being made
     */
    public record Missing(String table, LocalDate month, boolean held) {}

    /** The parts of the month of a moment, the one before it and the next two that are not there. */
    public static Future<List<Missing>> missing(SqlClient sql, OffsetDateTime moment) {
        return sql.preparedQuery(MISSING)
                .execute(Tuple.of(moment))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(Months::missing)
                        .toList());
    }

    private static Missing missing(Row row) {
        return new Missing(row.getString("parent"), row.getLocalDate("month"), row.getBoolean("held"));
    }

    /** How many rows stand in the parts {@code _other}; counted to 10,000 for each table. */
    public static Future<Long> others(SqlClient sql) {
        return sql.query(OTHERS).execute().map(rows -> rows.iterator().next().getLong(0));
    }

    /**
     * Makes what is missing. Idempotent. A part that cannot be made now, because somebody reads for long or Postgres is away, is left for
     * the next time.
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
                    LOG.warn("the tables' next months were not looked at: {}", away.toString());
                    return Future.succeededFuture();
                });
    }

    /**
     * Lets Postgres count anew what is in the tables, if it has doubled.
     *
     * @param sql gives it minutes
     * @return never fails
     */
    public static Future<Void> analyze(SqlClient sql) {
        return sql.query(ANALYZE).execute().<Void>mapEmpty().recover(later -> {
            LOG.warn("the tables of months were not analyzed: {}", later.toString());
            return Future.succeededFuture();
        });
    }

    private Future<Void> make(Missing month, List<Missing> left) {
        return sql.preparedQuery(MAKE)
                .execute(Tuple.of(month.table(), month.month()))
                .onSuccess(made -> LOG.debug("made the part of {} for {}", month.month(), month.table()))
                .<Void>mapEmpty()
                .recover(fault -> {
                    left.add(month);
                    if (month.held()) {
                        LOG.warn(
                                "rows of {} of {} are in {}_other: it has no part",
                                month.month(),
                                month.table(),
                                month.table());
                    }
                    LOG.warn(
                            "the part of {} for {} is not made yet, it is tried again: {}",
                            month.month(),
                            month.table(),
                            fault.toString());
                    return Future.succeededFuture();
                });
    }
}
