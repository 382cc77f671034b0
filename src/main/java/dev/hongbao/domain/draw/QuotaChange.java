package dev.hongbao.domain.draw;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.domain.odds.DefinitionChecks;
import dev.hongbao.domain.odds.DrawDefinition;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * A new quota of a prize for a later period, in place of the definition's. Immutable.
 *
 * @param prize its number, from 1; no fallback
 * @param period from 0
 * @param quota 0 to {@link DefinitionChecks#MAX_RELEASES}
 */
record QuotaChange(Draw draw, int prize, int period, long quota) {
    private static final String NOW = "select now(), closed_at is null and closes_at > now() as open,"
            + " exists (select from period where draw = $1 and n = $2) as planned from draw where id = $1";

    private static final String CHANGED = "select prize, quota from quota where draw = $1 and period = $2";

    private static final String SET = "insert into quota as q (draw, prize, period, quota) values ($1, $2, $3, $4)"
            + " on conflict (draw, prize, period) do update set quota = excluded.quota";

    /**
     * Stores the quota, unless the period is planned or has begun. Idempotent.
     *
     * @return refused with INVALID for an unknown prize or period; with DRAW_CLOSED; with INFEASIBLE when it is too late, or when the
     *     period would release more than {@link DefinitionChecks#MAX_RELEASES} prizes in total
     */
    Future<Void> make(Pool pool) {
        DrawDefinition definition = draw.definition();
        if (prize < 1
                || prize > definition.prizes().size()
                || period < 0
                || period >= definition.periods()
                || quota < 0
                || quota > DefinitionChecks.MAX_RELEASES) {
            return refused(Refusal.INVALID, Text.of("quota.not-possible"));
        }
        return pool.withTransaction(tx -> DrawStore.lockQuotas(tx, draw.id())
                .compose(locked -> tx.preparedQuery(NOW).execute(key()))
                .compose(rows -> inTime(rows.iterator().next()))
                .compose(inTime -> tx.preparedQuery(CHANGED).execute(key()))
                .compose(this::fitting)
                .compose(fits -> set(tx)));
    }

    private Tuple key() {
        return Tuple.of(draw.id().value(), period);
    }

    private Future<Void> inTime(Row now) {
        if (!now.getBoolean("open")) {
            return refused(Refusal.DRAW_CLOSED, Text.of("quota.draw-over"));
        }
        Instant start = draw.definition().periodStart(period);
        return now.getBoolean("planned") || !start.isAfter(DrawStore.instant(now, "now"))
                ? refused(Refusal.INFEASIBLE, Reason.OPENING, Text.of("quota.period-planned"))
                : Future.succeededFuture();
    }

    /** Checks the period's total over all prizes. */
    private Future<Void> fitting(RowSet<Row> changed) {
        Map<Integer, Long> quotas = new HashMap<>();
        changed.forEach(row -> quotas.put(row.getInteger("prize"), row.getLong("quota")));
        quotas.put(prize, quota);
        DrawDefinition definition = draw.definition();
        long sum = 0;
        for (int number = 1; number <= definition.prizes().size(); number++) {
            Long other = quotas.get(number);
            sum += other == null ? definition.quota(definition.prizes().get(number - 1), period) : other;
        }
        return sum <= DefinitionChecks.MAX_RELEASES
                ? Future.succeededFuture()
                : refused(
                        Refusal.INFEASIBLE,
                        Reason.AMOUNT,
                        Text.of("quota.too-many", DefinitionChecks.MAX_RELEASES, sum));
    }

    private Future<Void> set(SqlClient tx) {
        return tx.preparedQuery(SET)
                .execute(Tuple.of(draw.id().value(), (short) prize, period, quota))
                .mapEmpty();
    }

    private static Future<Void> refused(Refusal why, Reason reason, Text text) {
        return Future.failedFuture(new RefusedException(why, reason, text));
    }

    private static Future<Void> refused(Refusal why, Text text) {
        return Future.failedFuture(new RefusedException(why, text));
    }
}
