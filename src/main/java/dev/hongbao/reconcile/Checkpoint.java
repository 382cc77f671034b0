package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Checks everything new in the database since the checkpoint. If all is clean, it moves the checkpoint. Its cost grows with the new rows,
 * not with the whole history of money. It looks at the state of every draw and campaign, which is one short look-up each.
 *
 * <p>A working server does not notice it. It works in pieces, each one statement or one short READ COMMITTED transaction, and rests between
 * them outside of any, so no snapshot stays open. A slow piece makes the next ones smaller.
 *
 * <ol>
 *   <li>The checkpoint is an id of transfers. Ids are given in order, but committed out of order. So a run first waits for all transactions
 *       that write transfers at that moment, as {@code create index concurrently} does. Then each transfer up to the newest id is visible,
 *       or never will be: everything up to there is final.
 *   <li>It pages through the transfers up to there. It checks each page, adds it to the sums of its accounts, and notes its subjects and
 *       accounts as due.
 *   <li>It checks the due packets, draws and campaigns. One statement reads all numbers of one of them.
 *   <li>It compares the due accounts, a page by one statement: a balance is the sum so far plus all later transfers.
 * </ol>
 *
 * <p>A clean page is no longer due. A violation stays due, so each run finds it again until it is repaired. A run continues an interrupted
 * one. One run at a time, over all servers.
 */
final class Checkpoint {
    /** Transfers in one page. */
    static final int PAGE = 5_000;

    /** Subjects checked at once, with at most as many claims and plays. */
    private static final int SUBJECTS = 500;

    private static final int ROWS = 10_000;
    private static final int ACCOUNTS = 1_000;

    /** The most pages of new transfers read at once for the sources, which have no index to their transfers. */
    private static final int PAGES_FOR_SOURCES = 20;

    /** The most plays of a draw, or shares of a campaign, since all are read at once. A full run checks larger ones. */
    private static final int MAX_ROWS = 1_000_000;

    private static final Duration WRITERS = Duration.ofSeconds(30);
    private static final long LOOK_MILLIS = 20;

    /**
     * Pages are found by indexes, even before the planner has statistics. Their rows are unordered, and joined by hashes. Each statement is
     * planned for its own number of rows, and uses one core.
     */
    private static final String SETTINGS = """
        set application_name = 'hongbao reconcile'; set enable_seqscan = off; set enable_mergejoin = off;
        set plan_cache_mode = force_custom_plan; set work_mem = '64MB'; set max_parallel_workers_per_gather = 0
        """;

    private static final String LOCK =
            "select pg_try_advisory_lock(hashtextextended('reconcile from the checkpoint', 0))";

    private static final String UNLOCK =
            "select pg_advisory_unlock(hashtextextended('reconcile from the checkpoint', 0))";

    private static final Check BALANCES = new Check(
            "I4",
            "every changed balance is its sum at the checkpoint plus all later transfers",
            Severity.VIOLATION,
            """
            select format('%s of %s in %s, account %s: balance %s, transfers %s',
                          a.kind, a.owner, a.asset, s.account, a.balance, s.balance + coalesce(l.amount, 0))
            from summed as s
            left join account as a on a.id = s.account
            left join later as l on l.account = s.account
            where a.balance is distinct from s.balance + coalesce(l.amount, 0)
            """,
            Scope.ACCOUNTS);

    /**
     * Adds the transfers above $1 and up to $2, unless they are added. An escrow's owner is also due when its money moved under another
     * subject.
     */
    static final String ADD = """
        with moved as (update checkpoint set summed = $2 where summed = $1 returning summed),
             page as materialized (select t.* from transfer as t, moved where t.id > $1 and t.id <= $2),
             sides as materialized (
                 select s.account, sum(s.amount)::bigint as amount
                 from page cross join lateral (values (credit, amount), (debit, -amount)) as s(account, amount)
                 group by s.account),
             sums as (
                 insert into checkpoint_balance as b (account, balance, is_due) select account, amount, true from sides
                 on conflict (account) do update set balance = b.balance + excluded.balance, is_due = true)
        insert into checkpoint_due
        select subject from page where slot is not null or kind not in ('deposit', 'withdrawal')
        union
        select o.campaign from (select distinct subject from page) as s join pool as o on o.packet = s.subject
        union
        select a.owner::uuid from sides as s join account as a on a.id = s.account
        where a.kind in ('escrow', 'hold') and a.owner ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        union
        select c.id from sides as s join campaign as c on c.escrow = s.account
        on conflict do nothing
        """;

    /** Notes draws or campaigns after $1 that changed without a transfer. Returns the last one read. */
    static final String CHANGED = """
        with page as materialized (select id from %1$s where id > $1 order by id limit $2),
             due as (
                 insert into checkpoint_due
                 select n.id from page as n left join checkpoint_state as s on s.id = n.id
                 where s.state is distinct from checkpoint_state_of_%1$s(n.id)
                 on conflict do nothing)
        select id from page order by id desc limit 1
        """;

    /** The due subjects after $1, at most $2, with at most $3 rows, unless the first one alone has more. */
    static final String DUE = """
        select id, scope, state, rows
        from (select d.subject as id, o.*, sum(o.rows) over (order by d.subject) - o.rows as before
              from (select subject from checkpoint_due where subject > $1 order by subject limit $2) as d
              cross join lateral (
                  select 'DRAWS' as scope, checkpoint_state_of_draw(w.id) as state,
                         (select coalesce(sum(issued), 0) + 1000 from prize where draw = w.id)::bigint as rows
                  from draw as w where w.id = d.subject
                  union all
                  select 'CAMPAIGNS', checkpoint_state_of_campaign(c.id),
                         (select coalesce(sum(p.count), 0) + 1000 from pool as o join packet as p on p.id = o.packet
                          where o.campaign = c.id)::bigint
                  from campaign as c where c.id = d.subject
                  union all
                  select 'PACKETS', null, coalesce((select count from packet where id = d.subject), 1)::bigint
                  where not exists (select from draw where id = d.subject)
                    and not exists (select from campaign where id = d.subject)) as o) as weighed
        where before < $3
        """;

    private static final String CHECKED = """
        with done as (delete from checkpoint_due where subject = any ($1::uuid[]))
        insert into checkpoint_state
        select id, state from unnest($1::uuid[], $2::text[]) as s(id, state) where state is not null
        on conflict (id) do update set state = excluded.state
        """;

    /** The due accounts after $1, at most $2: only sources, or all except sources ($3). */
    private static final String MOVED = """
        select account from checkpoint_balance as b
        where is_due and account > $1
          and coalesce((select a.kind = 'source' from account as a where a.id = b.account), false) = $3
        order by account limit $2
        """;

    private static final String COMPARED = """
        with empty as (delete from checkpoint_balance where account = any ($1::bigint[]) and balance = 0)
        update checkpoint_balance set is_due = false where account = any ($1::bigint[]) and balance <> 0
        """;

    private static final UUID FIRST = new UUID(0, 0);

    private static final List<Check> ALL =
            Stream.concat(Reconciliation.checks().stream(), Stream.of(BALANCES)).toList();

    private final Vertx vertx;
    private final Pool pool;
    private final Pace pace;
    private final int page;
    private final Map<String, Finding> findings = new LinkedHashMap<>();
    private final List<String> leftOut = new ArrayList<>();

    /**
     * One run.
     *
     * @param page the most transfers read at once
     */
    Checkpoint(Vertx vertx, Pool pool, Pace pace, int page) {
        this.vertx = vertx;
        this.pool = pool;
        this.pace = pace;
        this.page = page;
        ALL.stream().filter(check -> check.scope().isRead()).forEach(check -> note(check.found(List.of())));
        SeedCheck.all(vertx).values().forEach(seeds -> note(seeds.found()));
    }

    /** Empty while another run is under way. Fails when a store does not answer, or a transaction writes transfers for too long. */
    Future<Optional<Reconciliation.SinceRun>> run() {
        return pool.withConnection(connection -> connection
                .query(SETTINGS)
                .execute()
                .compose(set -> one(connection, LOCK))
                .compose(row -> row.getBoolean(0)
                        ? locked(connection)
                                .map(Optional::of)
                                .eventually(() -> connection.query(UNLOCK).execute())
                        : Future.succeededFuture(Optional.empty())));
    }

    private Future<Reconciliation.SinceRun> locked(SqlConnection connection) {
        return one(connection, "select transfer from checkpoint")
                .map(row -> row.getLong(0))
                .compose(after -> place(connection)
                        .compose(end -> Pages.repeat(() -> add(connection, end))
                                .compose(added -> changed(connection, "draw"))
                                .compose(noted -> changed(connection, "campaign"))
                                .compose(noted -> subjects(connection))
                                .compose(checked -> accounts(connection))
                                .compose(compared -> check(connection, Scope.WHOLE, Tuple.tuple(), 0))
                                .compose(checked -> isClean() ? move(connection, end) : Future.succeededFuture(after)))
                        .map(upTo ->
                                new Reconciliation.SinceRun(List.copyOf(findings.values()), after, upTo, leftOut)));
    }

    private boolean isClean() {
        return findings.values().stream()
                .allMatch(finding -> finding.isClean() || finding.severity() != Severity.VIOLATION);
    }

    private static Future<Long> move(SqlConnection connection, long upTo) {
        return connection
                .preparedQuery("update checkpoint set transfer = $1")
                .execute(Tuple.of(upTo))
                .map(upTo);
    }

    /** An id up to which all transfers are visible, for ever. */
    private Future<Long> place(SqlConnection connection) {
        // The order matters: a transaction with an id up to this place holds a lock now, until it ends.
        return one(connection, "select transfers_begun(), summed from checkpoint")
                .compose(row -> {
                    Long begun = row.getLong(0);
                    if (begun == null || begun < row.getLong(1)) {
                        return Future.failedFuture(new IllegalStateException("the ids of transfers stand at " + begun
                                + ", and the checkpoint at " + row.getLong(1)
                                + ": they must be given one by one, and above the highest"));
                    }
                    return one(connection, "select transfers_under_way()")
                            .compose(writers -> await(
                                    connection, writers.getArrayOfStrings(0), System.nanoTime() + WRITERS.toNanos()))
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
                        return Future.failedFuture(
                                new IllegalStateException("a transaction writes transfers for more than "
                                        + WRITERS.toSeconds() + " s; of these, by transaction and process: "
                                        + String.join(", ", writers)));
                    }
                    return Pace.rest(vertx, LOOK_MILLIS).compose(later -> await(connection, writers, deadlineNanos));
                });
    }

    /**
     * Checks and adds a page of transfers.
     *
     * @return whether there are more up to the end; a page with a violation is the last one
     */
    private Future<Boolean> add(SqlConnection connection, long end) {
        return one(connection, "select summed, summarize_transfers() from checkpoint")
                .map(row -> row.getLong(0))
                .compose(summed -> {
                    long upTo = Math.min(end, summed + pace.size(page));
                    if (upTo <= summed) {
                        return Future.succeededFuture(false);
                    }
                    Tuple ids = Tuple.of(summed, upTo);
                    // The planner underestimates a page, and would compare each row with each.
                    return connection
                            .query("set enable_nestloop = off")
                            .execute()
                            .compose(set -> check(connection, Scope.TRANSFERS, ids, upTo - summed))
                            .eventually(() ->
                                    connection.query("set enable_nestloop = on").execute())
                            .compose(clean -> clean
                                    ? rows(connection, ADD, ids).map(added -> upTo < end)
                                    : Future.succeededFuture(false));
                });
    }

    /**
     * Notes draws or campaigns that changed without a transfer as due.
     *
     * @param table of draws or campaigns
     */
    private Future<Void> changed(SqlConnection connection, String table) {
        return Pages.each(
                FIRST,
                after -> rows(connection, CHANGED.formatted(table), Tuple.of(after, pace.size(SUBJECTS))),
                last -> last.isEmpty() ? null : last.get(0).getUUID("id"),
                noted -> Future.succeededFuture());
    }

    private Future<Void> subjects(SqlConnection connection) {
        return Pages.each(
                FIRST,
                after -> rows(connection, DUE, Tuple.of(after, pace.size(SUBJECTS), (long) pace.size(ROWS))),
                due -> due.isEmpty() ? null : due.get(due.size() - 1).getUUID("id"),
                due -> subjects(connection, due));
    }

    private Future<Void> subjects(SqlConnection connection, List<Row> due) {
        Map<Scope, List<UUID>> ids = new EnumMap<>(Scope.class);
        long rows = 0;
        for (Row row : due) {
            Scope scope = Scope.valueOf(row.getString("scope"));
            if (scope != Scope.PACKETS && row.getLong("rows") > MAX_ROWS) {
                leftOut.add((scope == Scope.DRAWS ? "draw " : "campaign ") + row.getUUID("id") + ", with more than "
                        + MAX_ROWS + (scope == Scope.DRAWS ? " plays" : " shares"));
            } else {
                ids.computeIfAbsent(scope, none -> new ArrayList<>()).add(row.getUUID("id"));
                rows += row.getLong("rows");
            }
        }
        Future<Boolean> clean = Future.succeededFuture(true);
        for (Scope scope : ids.keySet()) {
            Tuple subjects = uuids(ids.get(scope));
            long weight = rows;
            clean = clean.compose(
                    before -> check(connection, scope, subjects, weight).map(found -> before && found));
            if (scope == Scope.PACKETS) {
                clean = clean.compose(before ->
                        check(connection, Scope.REVERSALS, subjects, weight).map(found -> before && found));
            }
            SeedCheck seeds =
                    Objects.requireNonNull(SeedCheck.all(vertx).get(scope)).over(scope);
            clean = clean.compose(before -> pace.piece(() -> connection
                            .begin()
                            .compose(tx -> seeds.run(connection, subjects).eventually(tx::commit)))
                    .map(found -> before && note(found)));
        }
        return clean.compose(all -> all
                ? rows(
                                connection,
                                CHECKED,
                                uuids(due.stream().map(row -> row.getUUID("id")).toList())
                                        .addArrayOfString(Rows.texts(
                                                due,
                                                row -> row.getLong("rows") > MAX_ROWS ? null : row.getString("state"))))
                        .mapEmpty()
                : Future.succeededFuture());
    }

    private Future<Void> accounts(SqlConnection connection) {
        return accounts(connection, false)
                // A transaction that is still open delays the next run, not this one.
                .compose(compared -> place(connection)
                        .compose(end -> Pages.repeat(() -> add(connection, end)))
                        .otherwise((Void) null))
                .compose(added -> one(connection, "select transfers_begun() - summed from checkpoint"))
                .compose(row -> {
                    if (row.getLong(0) > (long) PAGES_FOR_SOURCES * page) {
                        leftOut.add("the sources: " + row.getLong(0) + " transfers were added meanwhile");
                        return Future.succeededFuture();
                    }
                    return accounts(connection, true);
                });
    }

    private Future<Void> accounts(SqlConnection connection, boolean sources) {
        return Pages.each(
                Long.MIN_VALUE,
                after -> rows(connection, MOVED, Tuple.of(after, pace.size(ACCOUNTS), sources)),
                due -> due.isEmpty() ? null : due.get(due.size() - 1).getLong("account"),
                due -> {
                    Tuple accounts =
                            Tuple.tuple().addArrayOfLong(Rows.column(due, Long[]::new, row -> row.getLong("account")));
                    return check(connection, Scope.ACCOUNTS, accounts, due.size())
                            .compose(clean ->
                                    clean ? rows(connection, COMPARED, accounts).mapEmpty() : Future.succeededFuture());
                });
    }

    /**
     * Makes the checks of a scope on a page: in one statement, or one by one for a large page.
     *
     * @return whether none is violated
     */
    private Future<Boolean> check(SqlConnection connection, Scope scope, Tuple page, long rows) {
        List<Check> checks =
                ALL.stream().filter(check -> check.scope() == scope).toList();
        int together = rows > ROWS ? 1 : checks.size();
        Future<Boolean> clean = Future.succeededFuture(true);
        for (int i = 0; i < checks.size(); i += together) {
            List<Check> these = checks.subList(i, i + together);
            clean = clean.compose(before -> rows(connection, scope.over(these), page)
                    .map(lines -> {
                        boolean all = before;
                        for (int n = 0; n < these.size(); n++) {
                            int which = n;
                            all &= note(these.get(n)
                                    .found(lines.stream()
                                            .filter(line -> line.getInteger(0) == which)
                                            .map(line -> line.getString(1))
                                            .toList()));
                        }
                        return all;
                    }));
        }
        return clean;
    }

    /**
     * Adds a finding.
     *
     * @return whether this is no violation
     */
    private boolean note(Finding more) {
        findings.merge(
                more.name(),
                more,
                (before, after) -> new Finding(
                        before.invariant(),
                        before.name(),
                        before.severity(),
                        Stream.concat(before.lines().stream(), after.lines().stream())
                                .distinct()
                                .limit(Reconciliation.MAX_LINES)
                                .toList()));
        return more.isClean() || more.severity() != Severity.VIOLATION;
    }

    /** Runs one statement as a piece. */
    private Future<List<Row>> rows(SqlConnection connection, String sql, Tuple parameters) {
        return pace.piece(() -> connection.preparedQuery(sql).execute(parameters))
                .map(rows -> rows.stream().toList());
    }

    private static Future<Row> one(SqlConnection connection, String sql) {
        return connection.query(sql).execute().map(rows -> rows.iterator().next());
    }

    private static Tuple uuids(List<UUID> ids) {
        return Tuple.tuple().addArrayOfUUID(ids.toArray(UUID[]::new));
    }
}
