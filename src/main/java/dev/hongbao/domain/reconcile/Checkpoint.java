package dev.hongbao.domain.reconcile;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks of the database what is new since the checkpoint, and moves the checkpoint when all of it is clean. What it costs grows with what
 * is new, and with the draws and campaigns that are at work, not with what there ever was.
 *
 * <p>The checkpoint is an id of transfers. Ids are given in order, but committed out of order. So before it moves to an id, the checkpoint
 * waits for every transaction that writes transfers at that moment, as {@code create index concurrently} does. Then every transfer up to
 * the id is visible, or never will be. The sum of each account up to the checkpoint is kept; together with the later transfers it is the
 * balance.
 *
 * <p>Much that is new is read in steps, each in a snapshot of its own, so that none keeps Postgres from cleaning up for long. One run at a
 * time, of all servers.
 */
final class Checkpoint {
    /** Transfers read at once: some seconds. */
    static final long STEP = 1_000_000;

    private static final Duration WRITERS = Duration.ofSeconds(30);
    private static final long LOOK_MILLIS = 20;

    private static final String LOCK = "hashtextextended('reconcile from the checkpoint', 0)";

    private static final Check BALANCES = new Check(
            "I4",
            "every balance that moved is its sum at the checkpoint and what moved since",
            Severity.VIOLATION,
            """
            select format('%s of %s in %s, account %s: balance %s, transfers %s',
                          a.kind, a.owner, a.asset, s.account, a.balance, s.balance + coalesce(l.amount, 0))
            from since_account as s
            left join account as a on a.id = s.account
            left join since_later as l on l.account = s.account
            where a.balance is distinct from s.balance + coalesce(l.amount, 0)
            """,
            Scope.WHOLE);

    private static final List<String> MOVE = List.of("""
            insert into checkpoint_balance select account, balance from since_account where balance <> 0
            on conflict (account) do update set balance = excluded.balance
            """, """
            delete from checkpoint_balance as b using since_account as s where b.account = s.account and s.balance = 0
            """, """
            insert into checkpoint_state
            select id, checkpoint_state_of_draw(id) from since_draw
            union all
            select id, checkpoint_state_of_campaign(id) from since_campaign
            on conflict (id) do update set state = excluded.state
            """);

    private static final String REMEMBER =
            "insert into checkpoint_due select account from since_account on conflict do nothing";
    private static final String FORGET = "delete from checkpoint_due";

    /** By this connection, since it last told Postgres' statistics of what it read: not only in the transaction that asks. */
    private static final String ROWS_READ = "select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint"
            + " from pg_stat_xact_user_tables where schemaname not like 'pg_temp%'";

    private final Vertx vertx;
    private final Pool pool;
    private final long step;

    /** @param step how many transfers are read at once */
    Checkpoint(Vertx vertx, Pool pool, long step) {
        this.vertx = vertx;
        this.pool = pool;
        this.step = step;
    }

    /** Empty when another run is under way; fails when a store does not answer, or somebody writes transfers for too long. */
    Future<Optional<SinceRun>> run() {
        return pool.withConnection(connection -> connection
                .query("set application_name = 'hongbao reconcile'")
                .execute()
                .compose(named -> one(connection, "select pg_try_advisory_lock(" + LOCK + ")"))
                .compose(row -> row.getBoolean(0)
                        ? locked(connection)
                                .map(Optional::of)
                                .eventually(() -> connection
                                        .query("select pg_advisory_unlock(" + LOCK + ")")
                                        .execute())
                        : Future.succeededFuture(Optional.empty())));
    }

    private Future<SinceRun> locked(SqlConnection connection) {
        return one(connection, "select transfer from checkpoint")
                .map(row -> row.getLong(0))
                .compose(after -> place(connection, after)
                        .compose(upTo -> steps(connection, upTo, new SinceRun(List.of(), after, after, 0, List.of()))));
    }

    /** An id up to which all transfers are there that ever will be. */
    private Future<Long> place(SqlConnection connection, long after) {
        // The order matters: a transaction that was given an id up to the place holds a lock by now, until it ends.
        return one(connection, "select transfers_begun()")
                .map(row -> row.getLong(0))
                .compose(begun -> {
                    if (begun == null || begun < after) {
                        return Future.failedFuture(new IllegalStateException("the ids of transfers stand at " + begun
                                + ", and the checkpoint at " + after
                                + ": they must be given one by one, and above the highest"));
                    }
                    return one(connection, "select transfers_under_way()")
                            .compose(row ->
                                    await(connection, row.getArrayOfStrings(0), System.nanoTime() + WRITERS.toNanos()))
                            .map(begun);
                });
    }

    private Future<Void> await(SqlConnection connection, String[] writers, long deadlineNanos) {
        if (writers.length == 0) {
            return Future.succeededFuture();
        }
        return connection
                .preparedQuery("select transfers_under_way() && $1")
                .execute(Tuple.tuple().addArrayOfString(writers))
                .map(rows -> rows.iterator().next().getBoolean(0))
                .compose(underWay -> {
                    if (!underWay) {
                        return Future.succeededFuture();
                    }
                    if (System.nanoTime() > deadlineNanos) {
                        return Future.failedFuture(new IllegalStateException("somebody writes transfers for more than "
                                + WRITERS.toSeconds() + " s; of these, by transaction and process: "
                                + String.join(", ", writers)));
                    }
                    Promise<Void> again = Promise.promise();
                    vertx.setTimer(
                            LOOK_MILLIS,
                            later -> await(connection, writers, deadlineNanos).onComplete(again));
                    return again.future();
                });
    }

    private Future<SinceRun> steps(SqlConnection connection, long end, SinceRun before) {
        long upTo = Math.min(end, before.upTo() + step);
        boolean last = upTo == end;
        return step(connection, before.upTo(), upTo, last).compose(done -> {
            boolean clean = isClean(done.findings());
            SinceRun so = new SinceRun(
                    done.findings(),
                    before.after(),
                    clean ? upTo : before.upTo(),
                    before.rowsRead() + done.rowsRead(),
                    done.leftOut());
            return last || !clean ? Future.succeededFuture(so) : steps(connection, end, so);
        });
    }

    static boolean isClean(List<Finding> findings) {
        return findings.stream().allMatch(finding -> finding.isClean() || finding.severity() != Severity.VIOLATION);
    }

    private Future<SinceRun> step(SqlConnection connection, long after, long upTo, boolean last) {
        List<Finding> findings = new ArrayList<>();
        return connection
                .query("begin isolation level repeatable read; " + Reconciliation.KEEP
                        + "; set local work_mem = '64MB'")
                .execute()
                .compose(begun -> rowsRead(connection))
                .compose(before -> Touched.gather(connection, after, upTo, last)
                        .compose(left -> checks(connection, last, findings)
                                .compose(checked ->
                                        isClean(findings) ? move(connection, upTo, last) : Future.succeededFuture())
                                .compose(moved -> rowsRead(connection))
                                .map(read -> new SinceRun(findings, after, upTo, read - before, left))))
                .compose(done -> connection
                        .query(isClean(done.findings()) ? "commit" : "rollback")
                        .execute()
                        .map(done))
                .recover(fault ->
                        connection.query("rollback").execute().transform(rolledBack -> Future.failedFuture(fault)));
    }

    private Future<Void> checks(SqlConnection connection, boolean last, List<Finding> findings) {
        Future<Void> done = Future.succeededFuture();
        for (Check check : Reconciliation.checks()) {
            if (check.scope().isRead() && (last || check.scope() != Scope.WHOLE)) {
                done = done.compose(before -> Reconciliation.run(connection, check, check.sinceSql()))
                        .onSuccess(findings::add)
                        .mapEmpty();
            }
        }
        if (last) {
            done = done.compose(before -> Reconciliation.run(connection, BALANCES, BALANCES.sql()))
                    .onSuccess(findings::add)
                    .mapEmpty();
        }
        for (RowAudit audit : List.of(
                SplitAudit.of(vertx).over(Scope.PACKETS),
                DrawSeedAudit.of(vertx).over(Scope.DRAWS),
                RainSeedAudit.of(vertx).over(Scope.CAMPAIGNS))) {
            done = done.compose(before -> audit.run(connection))
                    .onSuccess(findings::add)
                    .mapEmpty();
        }
        return done;
    }

    private static Future<Void> move(SqlConnection connection, long upTo, boolean last) {
        List<String> statements = new ArrayList<>(MOVE);
        statements.add(last ? FORGET : REMEMBER);
        statements.add("update checkpoint set transfer = " + upTo);
        Future<Void> done = Future.succeededFuture();
        for (String sql : statements) {
            done = done.compose(before -> connection.query(sql).execute()).mapEmpty();
        }
        return done;
    }

    private static Future<Long> rowsRead(SqlConnection connection) {
        return one(connection, ROWS_READ).map(row -> row.getLong(0));
    }

    private static Future<Row> one(SqlConnection connection, String sql) {
        return connection.query(sql).execute().map(rows -> rows.iterator().next());
    }
}
