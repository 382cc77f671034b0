package dev.hongbao.reconcile;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.server.Operations;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A run from the checkpoint reads what is new, misses nothing of it, and moves the checkpoint only over what is clean. */
@ExtendWith({Servers.class, VertxExtension.class})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CheckpointIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    /** More transfers than a few pages hold, of which the index names ranges. */
    private static final int HISTORY = 8_000;

    private static final String DEPOSITS = """
        with made as (select gen_random_uuid() as id, n from generate_series(1, %1$d) as n),
             asked as (insert into command (id, operation, actor, role, key)
                       select id, 'deposit', 'bulk', 'service', id::text from made)
        select 1;
        insert into account (kind, owner, asset) select 'wallet', 'old-' || n, 'CNY' from generate_series(1, 50) as n
            on conflict do nothing;
        insert into transfer (subject, debit, credit, amount, kind)
        select c.id, s.id, w.id, 1, 'deposit'
        from (select id, row_number() over () %% 50 + 1 as n from command as c
              where actor = 'bulk' and not exists (select from transfer as t where t.subject = c.id)) as c
        join account as w on w.owner = 'old-' || c.n and w.kind = 'wallet'
        cross join (select id from account where kind = 'source' and asset = 'CNY') as s;
        """;

    private TestServers servers;
    private Books books;
    private Packet open;

    @BeforeAll
    void someBooks(TestServers given) {
        servers = given;
        books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            engine.deposit("alice", 100_000);
            new TestDraws(engine).deposit("bob", TestDraws.POINTS, 1);
            Packet drained = engine.send("alice", 300, 2);
            open = engine.send("alice", 1000, 10);
            for (String user : List.of("bob", "carol")) {
                engine.claim(drained, user);
                engine.claim(open, user);
            }
        }
    }

    /** Each test ends with clean books, and with the checkpoint at their end. */
    @AfterEach
    void toTheEnd() throws Exception {
        assertThat(lines(run())).isEmpty();
    }

    private Reconciliation.SinceRun run() throws Exception {
        return Operations.reconcileSinceCheckpoint(TestEngine.stores(servers)).orElseThrow();
    }

    private static List<String> lines(Reconciliation.SinceRun run) {
        return run.findings().stream()
                .flatMap(finding -> finding.lines().stream())
                .toList();
    }

    private long checkpoint() {
        return books.longOf("select transfer from checkpoint");
    }

    /** A deposit behind the server's back, but by the rules. */
    private static String deposit(String user, int amount) {
        return deposit(user, "CNY", amount);
    }

    private static String deposit(String user, String asset, int amount) {
        return """
            with made as (insert into command (id, operation, actor, role, key)
                          values (gen_random_uuid(), 'deposit', 'hand', 'service', gen_random_uuid()::text) returning id)
            insert into transfer (subject, debit, credit, amount, kind)
            select (select id from made), s.id, w.id, %d, 'deposit'
            from account as s join account as w on w.asset = s.asset
            where s.kind = 'source' and w.kind = 'wallet' and w.owner = '%s' and s.asset = '%s'
            """.formatted(amount, user, asset);
    }

    @Test
    void whatIsCleanIsNotReadAgain() throws Exception {
        // Given books that were read
        Reconciliation.SinceRun first = run();
        assertThat(lines(first)).isEmpty();
        assertThat(checkpoint()).isEqualTo(first.upTo()).isEqualTo(books.longOf("select max(id) from transfer"));

        // When nothing has happened since
        Reconciliation.SinceRun second = run();

        // Then
        assertThat(second.after()).isEqualTo(first.upTo());
        assertThat(second.upTo()).isEqualTo(first.upTo());
        assertThat(second.findings()).hasSizeGreaterThan(30).allMatch(Finding::isClean);
    }

    @Test
    void whatItCostsGrowsWithWhatIsNewAndNotWithWhatThereIs() throws Exception {
        // Given books, and a few deposits since the checkpoint; what a vacuum reads would be counted, too
        books.strings("select format('alter table %s set (autovacuum_enabled = off)', oid::regclass) from pg_class"
                        + " where relkind = 'r' and relnamespace = 'public'::regnamespace")
                .forEach(books::execute);
        long before = costOfAFewDepositsAfter(HISTORY);

        // When there are twice as many, and as few since
        long after = costOfAFewDepositsAfter(HISTORY);

        // Then: a range of pages that the index names is read as a whole
        assertThat(after).as("rows read, before it was %s", before).isLessThan(HISTORY / 2);
        assertThat(after - before).isLessThan(HISTORY / 5);
    }

    /** With all that the planner should know of them. */
    private void deposits(int more) throws Exception {
        books.execute(DEPOSITS.formatted(more));
        books.strings("select brin_summarize_new_values(c.oid) from pg_class as c join pg_am as m on m.oid = c.relam"
                + " where m.amname = 'brin' and c.relkind = 'i'");
        books.execute("analyze");
    }

    private long costOfAFewDepositsAfter(int more) throws Exception {
        deposits(more);
        assertThat(lines(run())).isEmpty();
        for (int i = 0; i < 3; i++) {
            books.execute(deposit("bob", 1));
        }
        long before = rowsRead();
        assertThat(lines(run())).isEmpty();
        return rowsRead() - before;
    }

    /** Of all tables so far. A run counts what it read when its connection closes, and the connection of this test when it is asked to. */
    private long rowsRead() {
        eventually(SOON, () -> assertThat(stateOfTheRun()).isEqualTo("none"));
        books.execute("select pg_stat_force_next_flush()");
        return books.longOf("select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_user_tables");
    }

    @Test
    void aWalletThatWasAlteredBeforeIsFoundWhenItMoves() throws Exception {
        // Given one that did not move since the checkpoint
        run();
        books.execute("update account set balance = balance + 100 where owner = 'carol'");
        assertThat(lines(run())).isEmpty();

        // When it moves
        books.execute(deposit("carol", 1));

        // Then
        assertThat(lines(run())).singleElement().asString().contains("wallet of carol");
        books.execute("update account set balance = balance - 100 where owner = 'carol'");
    }

    @Test
    void moneyThatMovedBehindTheCheckpointIsFoundWhenEverythingIsRead() throws Exception {
        // Given an old deposit that is another user's now, with both balances
        books.execute(deposit("bob", 7_777));
        assertThat(lines(run())).isEmpty();
        String moved = """
                alter table transfer disable trigger transfer_is_kept;
                update transfer set credit = (select id from account where owner = '%2$s' and asset = 'CNY') where amount = 7777;
                alter table transfer enable trigger transfer_is_kept;
                update account set balance = balance + case owner when '%2$s' then 7777 else -7777 end
                where owner in ('%1$s', '%2$s') and asset = 'CNY'
                """;
        books.execute(moved.formatted("bob", "carol"));

        // When
        List<String> found = books.audited();

        // Then
        books.execute(moved.formatted("carol", "bob"));
        assertThat(found)
                .filteredOn(line -> line.contains("at the checkpoint"))
                .hasSize(2)
                .anyMatch(line -> line.startsWith("wallet of bob"))
                .anyMatch(line -> line.startsWith("wallet of carol"));
    }

    @Test
    void aPacketIsReadWholeWhenAnythingHappensToIt() throws Exception {
        // Given one that opened later than it was made, and whose first claim was altered when it was clean
        run();
        books.execute("update packet set created_at = created_at - interval '1 second' where id = '" + open.id() + "'");
        String move = "alter table transfer disable trigger user; update transfer set at = at %s interval '1 day' where"
                + " slot = 0 and subject = '" + open.id() + "'; alter table transfer enable trigger user";
        books.execute(move.formatted("-"));
        assertThat(lines(run())).isEmpty();

        // When it is claimed again
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            engine.claim(open, "dave");
        }

        // Then
        assertThat(lines(run())).singleElement().asString().contains(open.id().toString());
        books.execute(move.formatted("+"));
    }

    @Test
    void aDrawIsReadWhenItIsPlannedAgain() throws Exception {
        // Given planned periods, and prizes whose share of the stock was altered when it was clean
        String draw;
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            draw = new TestDraws(engine).create("""
                    {mode: schedule, opensAt: '2037-01-01T00:00:00Z', closesAt: '2037-01-02T00:00:00Z',
                     prizes: [{name: a, quota: 3, stock: 9}, {name: b, quota: 3, stock: 9}], fallback: {name: c}}
                    """).id().toString();
        }
        String plan = "select plan_period('" + draw + "', %d, now() - interval '2 hours', now() - interval '1 hour',"
                + " array[1, 1, 2]::smallint[], array[now(), now(), now()])";
        books.execute(plan.formatted(0));
        books.execute(plan.formatted(1));
        run();
        String alter = "update prize set planned = planned %s case n when 1 then 1 else -1 end where n < 3 and draw = '"
                + draw + "'";
        books.execute(alter.formatted("+"));
        assertThat(lines(run())).isEmpty();

        // When the first one ends, and the next one takes as much
        books.execute("select settle_draw_ends(array[id], array[epoch], array[nonce], array[last_seq], array[last_seq],"
                + " array['" + draw + "']::uuid[], array[0]) from shard where id = (select shard from draw where id = '"
                + draw + "')");
        books.execute(plan.formatted(2));

        // Then
        assertThat(lines(run())).hasSize(2).allMatch(line -> line.contains(draw));
        books.execute(alter.formatted("-"));
    }

    @Test
    void whoeverWritesIsAwaited(Vertx vertx) throws Exception {
        run();
        try (Connection slow = TestDatabase.begin(servers.postgresOwnerUrl(), deposit("bob", "POINTS", 3))) {
            // Given a transfer that was given its id, and a later one that is committed before it
            books.execute(deposit("carol", 4));

            // When
            Future<Optional<Reconciliation.SinceRun>> run =
                    vertx.executeBlocking(() -> Operations.reconcileSinceCheckpoint(TestEngine.stores(servers)));
            eventually(SOON, () -> assertThat(isAwaiting()).isTrue());
            assertThat(run.isComplete()).isFalse();
            slow.commit();

            // Then it has seen both
            Reconciliation.SinceRun done = get(run).orElseThrow();
            assertThat(lines(done)).isEmpty();
            assertThat(done.upTo()).isEqualTo(books.longOf("select max(id) from transfer"));
        }
    }

    /** Whether a run says that it waits for who writes. */
    private boolean isAwaiting() {
        return ofTheRun("(query like 'select transfers_under_way() && %')::text")
                .equals("true");
    }

    /** With its snapshot, when it has one. */
    private String stateOfTheRun() {
        return ofTheRun("state || coalesce(backend_xmin::text, '')");
    }

    private String ofTheRun(String column) {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement();
                ResultSet row = statement.executeQuery("select " + column + " from pg_stat_activity"
                        + " where application_name = 'hongbao reconcile' and datname = current_database()")) {
            return row.next() ? row.getString(1) : "none";
        } catch (SQLException unanswered) {
            throw new IllegalStateException(unanswered);
        }
    }

    @Test
    void oneRunsAtATime() throws Exception {
        try (Connection other = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = other.createStatement()) {
            statement.execute("select pg_advisory_lock(hashtextextended('reconcile from the checkpoint', 0))");

            assertThat(Operations.reconcileSinceCheckpoint(TestEngine.stores(servers)))
                    .isEmpty();
        }
    }

    @Test
    void muchThatIsNewIsReadInPagesAndWhatAPageHasFoundIsFoundUntilItIsMended(Vertx vertx) throws Exception {
        // Given
        run();
        for (int i = 0; i < 5; i++) {
            books.execute(deposit(i == 0 ? "alice" : "bob", 1));
        }
        books.execute("update account set balance = balance + 1 where owner = 'alice' and kind = 'wallet'");

        // When the wallet that was altered moved in the first page only
        Reconciliation.SinceRun run = inPages(vertx, 2, millis -> 0);

        // Then all transfers are added up, and its balance is asked for until it is right
        assertThat(lines(run)).singleElement().asString().contains("wallet of alice");
        assertThat(run.upTo()).isEqualTo(checkpoint()).isEqualTo(run.after());
        assertThat(books.longOf("select summed from checkpoint"))
                .isEqualTo(books.longOf("select max(id) from transfer"));
        assertThat(lines(run())).hasSize(1);
        books.execute("update account set balance = balance - 1 where owner = 'alice' and kind = 'wallet'");
        assertThat(lines(run())).isEmpty();
        assertThat(books.longOf("select count(*) from checkpoint_balance where is_due"))
                .isZero();
        assertThat(books.longOf("select count(*) from checkpoint_due")).isZero();
    }

    @Test
    void aPageThatBreaksARuleIsNotAddedUpUntilItIsMended(Vertx vertx) throws Exception {
        // Given new transfers, of which the second has lost its command
        run();
        long before = books.longOf("select summed from checkpoint");
        for (int i = 0; i < 4; i++) {
            books.execute(deposit("bob", 1));
        }
        String forged = "(select min(id) + 1 from transfer where id > " + before + ")";
        books.execute("create table lost as select subject from transfer where id = " + forged);
        books.execute("alter table transfer disable trigger user;"
                + " update transfer set subject = gen_random_uuid() where id = " + forged + ";"
                + " alter table transfer enable trigger user");
        try {
            // When
            Reconciliation.SinceRun run = inPages(vertx, 1, millis -> 0);

            // Then it is found, and found again
            assertThat(lines(run)).isNotEmpty();
            assertThat(books.longOf("select summed from checkpoint")).isEqualTo(before + 1);
            assertThat(lines(run())).isNotEmpty();
        } finally {
            books.execute("alter table transfer disable trigger user;"
                    + " update transfer set subject = (select subject from lost) where id = " + forged + ";"
                    + " alter table transfer enable trigger user; drop table lost");
        }
        assertThat(lines(run())).isEmpty();
        assertThat(books.longOf("select summed from checkpoint"))
                .isEqualTo(books.longOf("select max(id) from transfer"));
    }

    private Reconciliation.SinceRun inPages(Vertx vertx, int page, LongUnaryOperator restMillis) {
        Pool pool = new Postgres(vertx, TestEngine.stores(servers).app()).pool("reconcile", 1, 10, Postgres.LONG);
        return get(new Checkpoint(vertx, pool, new Pace(vertx, restMillis), page).run())
                .orElseThrow();
    }

    @Test
    void aRunRestsOutsideOfAnyTransaction(Vertx vertx) throws Exception {
        // Given something new, and somebody who looks while a run rests
        run();
        books.execute(deposit("bob", 1));
        List<String> seen = new ArrayList<>();

        // When
        Reconciliation.SinceRun run = inPages(vertx, 1, millis -> {
            seen.add(stateOfTheRun());
            return 1;
        });

        // Then
        assertThat(lines(run)).isEmpty();
        assertThat(seen).hasSizeGreaterThan(5).containsOnly("idle");
    }

    @Test
    void aRunIsCleanWhileOthersMoveTheSameAccounts(Vertx vertx) throws Exception {
        // Given a wallet, a source and a packet that are at work in each rest
        run();
        books.execute(deposit("bob", 1));
        int[] rests = {0};

        // When
        Reconciliation.SinceRun run = inPages(vertx, 1, millis -> {
            if (rests[0]++ < 30) {
                books.execute(deposit(rests[0] % 2 == 0 ? "bob" : "carol", 1));
            }
            return 1;
        });

        // Then
        assertThat(rests[0]).isGreaterThan(10);
        assertThat(lines(run)).isEmpty();
        assertThat(run.upTo()).isGreaterThan(run.after());
    }

    @Test
    void sourcesWaitForARunInWhichLittleComes(Vertx vertx) throws Exception {
        // Given a source that is wrong, and so many deposits while a run rests that it cannot keep up
        run();
        books.execute(deposit("bob", 1)
                + "; update account set balance = balance + 1 where kind = 'source' and asset = 'CNY'");
        int[] rests = {0};

        // When
        Reconciliation.SinceRun busy = inPages(vertx, 1, millis -> {
            if (rests[0]++ < 40) {
                books.execute(DEPOSITS.formatted(5));
            }
            return 1;
        });

        // Then it says that it did not look, and the next run does
        assertThat(busy.leftOut()).singleElement().asString().startsWith("the sources: ");
        assertThat(lines(busy)).isEmpty();
        assertThat(lines(run())).singleElement().asString().startsWith("source of outside in CNY");
        books.execute("update account set balance = balance - 1 where kind = 'source' and asset = 'CNY'");
    }

    @Test
    void theLatestRunIsNoted(Vertx vertx) throws Exception {
        // Given a clean run, and one that found something
        run();
        books.execute(deposit("bob", 1));
        books.execute("update account set balance = balance + 1 where owner = 'bob'");
        run();
        LatestRuns latest = new LatestRuns(
                new Postgres(vertx, TestEngine.stores(servers).app()).pool("latest", 1, 10, Postgres.LONG));

        // Then
        assertThat(get(latest.read()))
                .filteredOn(LatestRuns.Latest::sinceCheckpoint)
                .singleElement()
                .satisfies(one -> {
                    assertThat(one.lines())
                            .isEqualTo(Map.of(Severity.VIOLATION, 1, Severity.QUARANTINED, 0, Severity.HEALS, 0));
                    assertThat(one.cleanAge()).isGreaterThan(one.age());
                });
        books.execute("update account set balance = balance - 1 where owner = 'bob'");
    }
}
