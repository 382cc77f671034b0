package dev.hongbao.ledger;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.reconcile.BookQueries;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Page;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** No question about the books reads all of a large table. The rows are forged: only their number matters. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BookPlansIT {
    private static final int TRANSFERS = 250_000;

    private Connection owner;

    /** Of the table, that of this month: the others are empty, and may be read whole. */
    private String part;

    @BeforeAll
    void aLargeTable(TestServers servers) throws SQLException {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            engine.deposit("ann", 1);
        }
        owner = TestDatabase.connect(servers.postgresOwnerUrl());
        execute("set time zone 'UTC'"); // not the machine's
        execute("alter table transfer disable trigger user");
        execute("alter table command disable trigger user");
        execute(
                "insert into account (kind, owner, asset) select 'wallet', 'user' || n, 'CNY' from generate_series(1, 1000) as n");
        forge(TRANSFERS, "2026-01-01", "now()");
        execute(
                "insert into command (id, operation, actor, role, key, reference) select subject, 'deposit', 'backend', 'service', 'k', 'order' || id from transfer where id % 5 = 0 on conflict do nothing");
        part = text("select month_part('transfer', date_trunc('month', now())::date)");
        execute("vacuum analyze account, command, " + part); // as autovacuum does: never the partitioned table
        // Another one meanwhile would hold the lock that summarize_transfers does not wait for.
        execute("alter table " + part + " set (autovacuum_enabled = off)");
        execute("set plan_cache_mode = force_generic_plan");
    }

    @AfterAll
    void close() throws SQLException {
        owner.close();
    }

    private void forge(int transfers, String from, String subjects) throws SQLException {
        execute("insert into transfer (subject, debit, credit, amount, kind, at)"
                // UUIDv7s of a month
                + " select (left(first_uuid(" + subjects
                + ")::text, 15) || substr(gen_random_uuid()::text, 16))::uuid, s.id, w.id, 1, 'deposit', timestamptz '"
                + from + "' + n * interval '1 second'"
                + " from generate_series(1, " + transfers + ") as n"
                + " join account as w on w.owner = 'user' || (n % 1000 + 1) cross join account as s where s.kind = 'source'"
                + " order by n");
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = owner.createStatement()) {
            statement.execute(sql);
        }
    }

    private String plan(String types, String sql, String parameters) throws SQLException {
        execute("prepare asked (" + types + ") as " + sql);
        try (Statement statement = owner.createStatement();
                ResultSet rows = statement.executeQuery("explain execute asked (" + parameters + ")")) {
            StringBuilder plan = new StringBuilder();
            while (rows.next()) {
                plan.append(rows.getString(1)).append('\n');
            }
            return plan.toString();
        } finally {
            execute("deallocate asked");
        }
    }

    /** Rows of the table that a call looks at. */
    private long rowsRead(String call) throws SQLException {
        return rowsRead(part, call);
    }

    private long rowsRead(String part, String call) throws SQLException {
        owner.setAutoCommit(false); // so that nothing is flushed meanwhile
        try {
            long before = counted(part);
            execute(call);
            return counted(part) - before;
        } finally {
            owner.rollback();
            owner.setAutoCommit(true);
        }
    }

    private long counted(String part) throws SQLException {
        return number(("select pg_stat_get_xact_tuples_returned('%1$s'::regclass)"
                        + " + pg_stat_get_xact_tuples_fetched('%1$s'::regclass)")
                .formatted(part));
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(text(sql));
    }

    private String text(String sql) throws SQLException {
        try (Statement statement = owner.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Test
    void aSearchAndAStatementGoThroughIndexes() throws SQLException {
        String byReference = plan(
                "text, uuid, bigint, timestamptz, timestamptz, text, int, text",
                TransferSearch.BY_REFERENCE,
                "'order7', '00000000-0000-0000-0000-000000000000', 0, '2026-01-01', '2027-01-01', null, 50, null");
        String byUser = plan(
                "text, bigint, int, timestamptz, timestamptz, text",
                TransferSearch.BY_USER,
                "'user7', 0, 50, '2026-01-02', '2027-01-01', null");
        String statement = plan(
                "text, text, timestamptz, timestamptz, int",
                Books.STATEMENT,
                "'user7', 'CNY', '2026-01-02', '2027-01-01', 10001");

        for (String plan : new String[] {byReference, byUser, statement}) {
            assertThat(plan).doesNotContain("Seq Scan on " + part).doesNotContain("Seq Scan on command");
        }
        assertThat(byUser).contains("transfer_in");
        assertThat(statement).contains("transfer_in");
    }

    /** It finds nothing. A plan that counts on finding something soon would read them again for each row of the outbox. */
    @Test
    void aCheckOfTheOutboxReadsTheBooksOnce() throws SQLException {
        owner.setAutoCommit(false);
        try (Statement statement = owner.createStatement()) {
            statement.execute("create temporary table sent on commit drop as"
                    + " select n, (left(first_uuid(now())::text, 15) || substr(gen_random_uuid()::text, 16))::uuid as packet"
                    + " from generate_series(0, 3999) as n");
            statement.execute(
                    "insert into transfer (subject, debit, credit, amount, kind, slot, at)"
                            + " select p.packet, s.id, w.id, 1, 'claim', slot, now()"
                            + " from sent as p cross join generate_series(0, 29) as slot"
                            + " join account as w on w.owner = 'user' || (slot + 1) cross join account as s where s.kind = 'source'");
            statement.execute("insert into outbox (shard, type, subjects, firsts, lasts, events)"
                    + " select 0, 'claim.settled', array_agg(p.packet), array_agg(slot), array_agg(slot), count(*)"
                    + " from sent as p cross join generate_series(0::bigint, 29) as slot group by slot, p.n / 25");
            statement.execute("analyze " + part + "; analyze outbox");
            statement.execute(BookQueries.PLANNING + "; set local statement_timeout = '60s'");
            long before = counted(part);
            assertThat(statement
                            .executeQuery(
                                    BookQueries.where(any -> true).get("I16: the outbox's claims are in the books"))
                            .next())
                    .isFalse();
            assertThat(counted(part) - before).isLessThan(4L * TRANSFERS);
        } finally {
            owner.rollback();
            owner.setAutoCommit(true);
        }
    }

    /** Also of those that no vacuum has seen yet. */
    @Test
    void aPieceOfTheTurnoverReadsLittleMoreThanItCounts() throws SQLException {
        forge(40_000, "2026-03-01", "now()");
        execute("select count_turnover(1)"); // sees how far it may count

        assertThat(rowsRead("select count_turnover(2000)")).isBetween(2_000L, 20_000L);
    }

    /** A draw that is open for long writes to the part of its own month. */
    @Test
    void aPieceOfTheTurnoverReadsLittleOfAnOldMonth() throws SQLException {
        String old = "transfer_2025_06";
        execute("select make_month('transfer', '2025-06-01', 0)");
        execute("alter table " + old + " set (autovacuum_enabled = off)");
        forge(40_000, "2026-05-01", "'2025-06-15'");
        execute("analyze " + old);
        execute("select summarize_transfers()");
        execute(
                "update turnover_place set counted = transfers_begun() - 10, begun = transfers_begun(), waits_for = '0'");

        assertThat(rowsRead(old, "select count_turnover(10)")).isBetween(10L, 20_000L);

        execute("update turnover_place set counted = begun");
    }

    /** Escrows' owners are UUIDs, and sort before most users. */
    @Test
    void aListOfUsersReadsNoEscrows() throws SQLException {
        execute("insert into account (kind, owner, asset)"
                + " select 'escrow', gen_random_uuid(), 'CNY' from generate_series(1, 30000)");
        execute("vacuum analyze account");

        assertThat(buffers(Wallets.HOLDERS.replace("$1", "''").replace("$2", "50")))
                .isLessThan(50);
    }

    @Test
    void aListOfRareCommandsReadsNoOthers() throws SQLException {
        assertThat(buffers("select * from command where id < 'ffffffff-ffff-ffff-ffff-ffffffffffff'"
                        + " and operation = 'reversal' order by id desc limit 51"))
                .isLessThan(50);
    }

    private long buffers(String sql) throws SQLException {
        JsonObject plan = new JsonArray(text("explain (analyze, buffers, format json) " + sql))
                .getJsonObject(0)
                .getJsonObject("Plan");
        return plan.getLong("Shared Hit Blocks") + plan.getLong("Shared Read Blocks");
    }

    /** The search's steps grow in a quiet time: one that is too long for what comes next is not read. */
    @Test
    void howBusyATimeIsIsSeenInAFewRows() throws SQLException {
        assertThat(text("select transfers_are_many('2025-12-31', '2026-02-01', 4000)"))
                .isEqualTo("t");
        assertThat(text("select transfers_are_many('2026-01-02', '2026-01-02 01:06', 4000)"))
                .isEqualTo("f");
        assertThat(rowsRead("select transfers_are_many('2025-12-31', '2026-02-01', 4000)"))
                .isBetween(4_000L, TRANSFERS / 10L);
    }

    /** Each page, the first of which begins in a quiet time. */
    @Test
    void aSearchByTimeReadsLittleMoreThanItGivesAlsoAfterAQuietTime(TestServers servers) throws SQLException {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            TransferSearch search = new TransferSearch(engine.engine().pool());
            TransferSearch.Filter filter = new TransferSearch.Filter(
                    null, null, null, Instant.parse("2025-11-01T00:00:00Z"), Instant.parse("2026-01-05T00:00:00Z"));
            execute("select pg_stat_force_next_flush()");
            long before = read();

            // When
            Page<TransferSearch.Booked> first = get(search.find(filter, null, 500));
            Page<TransferSearch.Booked> second = get(search.find(filter, first.next(), 500));

            // Then
            assertThat(first.items().get(0).at()).isEqualTo(Instant.parse("2026-01-01T00:00:01Z"));
            assertThat(second.items().get(499).at()).isEqualTo(Instant.parse("2026-01-01T00:16:40Z"));
            eventually(Duration.ofSeconds(25), () -> assertThat(read() - before).isBetween(1_000L, TRANSFERS / 2L));
        }
    }

    private long read() throws SQLException {
        return number(("select pg_stat_get_tuples_returned('%1$s'::regclass)"
                        + " + pg_stat_get_tuples_fetched('%1$s'::regclass)")
                .formatted(part));
    }

    @Test
    void aRangeOfTimesReadsItsPartOfTheTable() throws SQLException {
        String between = plan(
                "timestamptz, timestamptz",
                "select * from transfer where at >= $1 and at < $2 order by at, id limit 50",
                "'2026-01-02', '2026-01-02 01:00'");
        assertThat(between).contains("transfer_at").doesNotContain("Seq Scan on " + part);

        assertThat(rowsRead("select * from transfers_between('2026-01-02', '2026-01-02 01:00', 0, 50, null)"))
                .isBetween(50L, TRANSFERS / 10L);
        assertThat(rowsRead("select * from transfer_totals('2026-01-02', '2026-01-02 01:00')"))
                .isBetween(3_600L, TRANSFERS / 10L);
    }
}
