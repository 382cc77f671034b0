package dev.hongbao.domain.reconcile;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.server.Audit;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.VertxExtension;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    /** More transfers than a few pages hold. */
    private static final int HISTORY = 30_000;

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

    /** Whatever a test has left, the next one begins from clean books. */
    @AfterEach
    void toTheEnd() throws Exception {
        assertThat(lines(run())).isEmpty();
    }

    private SinceRun run() throws Exception {
        return Audit.runSinceCheckpoint(TestEngine.stores(servers)).orElseThrow();
    }

    private static List<String> lines(SinceRun run) {
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
        SinceRun first = run();
        assertThat(lines(first)).isEmpty();
        assertThat(checkpoint()).isEqualTo(first.upTo()).isEqualTo(books.longOf("select max(id) from transfer"));

        // When nothing has happened since
        SinceRun second = run();

        // Then
        assertThat(second.after()).isEqualTo(first.upTo());
        assertThat(second.upTo()).isEqualTo(first.upTo());
        assertThat(second.findings()).hasSizeGreaterThan(30).allMatch(Finding::isClean);
    }

    @Test
    void whatItCostsGrowsWithWhatIsNewAndNotWithWhatThereIs() throws Exception {
        // Given books, and a few deposits since the checkpoint
        long before = costOfAFewDepositsAfter(HISTORY);

        // When there are twice as many, and as few since
        long after = costOfAFewDepositsAfter(HISTORY);

        // Then: a range of pages that the index names is read as a whole
        assertThat(after).as("rows read, before it was %s", before).isLessThan(HISTORY / 2);
        assertThat(after - before).isLessThan(HISTORY / 5);
    }

    @Test
    void whatItCostsGrowsWithWhatIsNewAndNotWithTheNumberOfItsSteps(Vertx vertx) throws Exception {
        // Given
        Pool pool = new Postgres(vertx, TestEngine.stores(servers).app()).pool("reconcile", 1, 10, Postgres.LONG);
        run();
        deposits(HISTORY / 3);
        long atOnce =
                get(new Checkpoint(vertx, pool, HISTORY).run()).orElseThrow().rowsRead();

        // When
        deposits(HISTORY / 3);
        long inSteps = get(new Checkpoint(vertx, pool, HISTORY / 15).run())
                .orElseThrow()
                .rowsRead();

        // Then: of an index of ranges a step reads more than its own
        assertThat(inSteps).as("rows read, at once it was %s", atOnce).isLessThan(2 * atOnce);
    }

    @Test
    void whatAnEarlierStepHasReadIsNotReadAgainForItsBalances() throws Exception {
        // Given nothing that is new, and balances that earlier steps have left
        long upTo = run().upTo();
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            app.setAutoCommit(false);
            statement.execute("insert into checkpoint_due select escrow from packet");

            // When
            for (String sql : Touched.statements(upTo, upTo, true)) {
                statement.execute(sql);
            }

            // Then
            assertThat(count(statement, "since_account")).isPositive();
            assertThat(count(statement, "since_packet")).isZero();
        }
    }

    private static long count(Statement statement, String table) throws Exception {
        try (ResultSet row = statement.executeQuery("select count(*) from " + table)) {
            row.next();
            return row.getLong(1);
        }
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
        SinceRun run = run();
        assertThat(lines(run)).isEmpty();
        return run.rowsRead();
    }

    @Test
    void aForgeryAfterTheCheckpointIsFoundUntilItIsTakenAway() throws Exception {
        // Given
        long clean = run().upTo();
        books.execute(deposit("carol", 5));
        books.execute("update account set balance = balance + 1 where owner = 'carol'");

        // When
        SinceRun found = run();
        SinceRun again = run();

        // Then the checkpoint stays, so that it is found again
        assertThat(lines(found)).singleElement().asString().contains("wallet of carol");
        assertThat(lines(again)).isEqualTo(lines(found));
        assertThat(checkpoint()).isEqualTo(clean);
        books.execute("update account set balance = balance - 1 where owner = 'carol'");
    }

    @Test
    void aTransferThatMovedNoBalanceIsFound() throws Exception {
        // Given one that was written without its rules
        run();
        books.execute("alter table transfer disable trigger transfer_moves_balances; " + deposit("bob", 7)
                + "; alter table transfer enable trigger transfer_moves_balances");

        // Then both accounts tell of it
        assertThat(lines(run())).hasSize(2).anyMatch(line -> line.contains("wallet of bob"));
        books.execute("update account set balance = balance + case kind when 'wallet' then 7 else -7 end"
                + " where asset = 'CNY' and (owner = 'bob' or kind = 'source')");
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
    void aPacketIsReadWholeWhenAnythingHappensToIt() throws Exception {
        // Given one that opened later than it was made, and whose first claim was altered when it was clean
        run();
        books.execute("update packet set created_at = created_at - interval '1 second' where id = '" + open.id() + "'");
        books.execute(
                "alter table transfer disable trigger user; update transfer set at = at - interval '1 day' where slot = 0 and"
                        + " subject = '" + open.id() + "'; alter table transfer enable trigger user");
        assertThat(lines(run())).isEmpty();

        // When it is claimed again
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            engine.claim(open, "dave");
        }

        // Then
        assertThat(lines(run())).singleElement().asString().contains(open.id().toString());
        books.execute(
                "alter table transfer disable trigger user; update transfer set at = at + interval '1 day' where slot = 0 and"
                        + " subject = '" + open.id() + "'; alter table transfer enable trigger user");
    }

    @Test
    void whoeverWritesIsAwaited(Vertx vertx) throws Exception {
        run();
        try (Connection slow = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = slow.createStatement()) {
            // Given a transfer that was given its id, and a later one that is committed before it
            slow.setAutoCommit(false);
            statement.execute(deposit("bob", "POINTS", 3));
            books.execute(deposit("carol", 4));

            // When
            Future<Optional<SinceRun>> run =
                    vertx.executeBlocking(() -> Audit.runSinceCheckpoint(TestEngine.stores(servers)));
            eventually(SOON, () -> assertThat(isAwaiting()).isTrue());
            assertThat(run.isComplete()).isFalse();
            slow.commit();

            // Then it has seen both
            SinceRun done = get(run).orElseThrow();
            assertThat(lines(done)).isEmpty();
            assertThat(done.upTo()).isEqualTo(books.longOf("select max(id) from transfer"));
        }
    }

    /** Whether a run says that it waits for who writes. */
    private boolean isAwaiting() throws Exception {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement();
                ResultSet row = statement.executeQuery("select exists (select from pg_stat_activity"
                        + " where application_name = 'hongbao reconcile' and datname = current_database()"
                        + " and query like 'select transfers_under_way() && %')")) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** What is gathered has no index: within a join it would be read once for each row, and a million times a million is days. */
    @Test
    void whatIsGatheredIsReadOnce() throws Exception {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            app.setAutoCommit(false);
            for (String sql : Touched.statements(0, Long.MAX_VALUE, true)) {
                if (sql.strip().startsWith("create")) {
                    assertThat(innerScans(plan(statement, sql), false))
                            .as(sql)
                            .noneMatch(scanned -> scanned.startsWith("since_") || scanned.equals("checkpoint_due"));
                }
                statement.execute(sql);
            }
        }
    }

    private static JsonObject plan(Statement statement, String sql) throws Exception {
        try (ResultSet rows = statement.executeQuery("explain (format json) " + sql)) {
            rows.next();
            return new JsonArray(rows.getString(1)).getJsonObject(0).getJsonObject("Plan");
        }
    }

    /** What is read without an index at the inner side of a nested loop, or once a row: tables, and names of what the statement gathers itself. */
    private static List<String> innerScans(JsonObject node, boolean isInner) {
        List<String> scans = new ArrayList<>();
        boolean isWhole = List.of("Seq Scan", "CTE Scan").contains(node.getString("Node Type"));
        if (isInner && isWhole) {
            scans.add(node.getString("Relation Name", "since_" + node.getString("CTE Name")));
        }
        boolean isLoop = node.getString("Node Type").equals("Nested Loop");
        for (Object child : node.getJsonArray("Plans", new JsonArray())) {
            JsonObject plan = (JsonObject) child;
            String relation = plan.getString("Parent Relationship");
            boolean isRepeated = "SubPlan".equals(relation) || isLoop && "Inner".equals(relation);
            scans.addAll(innerScans(plan, isInner || isRepeated));
        }
        return scans;
    }

    @Test
    void oneRunsAtATime() throws Exception {
        try (Connection other = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = other.createStatement()) {
            statement.execute("select pg_advisory_lock(hashtextextended('reconcile from the checkpoint', 0))");

            assertThat(Audit.runSinceCheckpoint(TestEngine.stores(servers))).isEmpty();
        }
    }

    @Test
    void muchThatIsNewIsReadInStepsAndTheBalancesAtTheirEnd(Vertx vertx) throws Exception {
        // Given
        run();
        for (int i = 0; i < 5; i++) {
            books.execute(deposit(i == 0 ? "alice" : "bob", 1));
        }
        books.execute("update account set balance = balance + 1 where owner = 'alice' and kind = 'wallet'");
        Pool pool = new Postgres(vertx, TestEngine.stores(servers).app()).pool("reconcile", 1, 10, Postgres.LONG);

        // When the wallet that was altered moved in the first step only
        SinceRun run = get(new Checkpoint(vertx, pool, 2).run()).orElseThrow();

        // Then what is clean is done, and its balance is asked for until it is right
        assertThat(lines(run)).singleElement().asString().contains("wallet of alice");
        assertThat(run.upTo()).isEqualTo(checkpoint()).isGreaterThan(run.after());
        assertThat(books.longOf("select count(*) from checkpoint_due")).isPositive();
        assertThat(lines(run())).hasSize(1);
        books.execute("update account set balance = balance - 1 where owner = 'alice' and kind = 'wallet'");
        assertThat(lines(run())).isEmpty();
        assertThat(books.longOf("select count(*) from checkpoint_due")).isZero();
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
                    assertThat(one.found()).isEqualTo(new LatestRuns.Found(1, 0, 0));
                    assertThat(one.cleanAge()).isGreaterThan(one.age());
                });
        books.execute("update account set balance = balance - 1 where owner = 'bob'");
    }
}
