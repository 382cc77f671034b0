package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the settlement of a draw's end reads and locks, and what an owner's look for work and a player's view read. Nobody settles meanwhile but the test. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DrawEndIT {
    private static final int PLAYS = 30_000;

    private Books books;
    private TestServers servers;
    private TestEngine engine;
    private TestDraws draws;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(given);
        engine = TestEngine.start(given, 1, Map.of("shards", "1"));
        draws = new TestDraws(engine);
        draws.deposit("shop", POINTS, 100); // the first wallet
        draws.deposit("vera", POINTS, 100);
        get(engine.engine().stopWriter());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private static String settled(Draw draw) {
        return "select closed, wrong from shard, settle_draw_ends(array[id], array[epoch], array[nonce],"
                + " array[last_seq], array[last_seq + 1], array['" + draw.id() + "'::uuid], array[null::integer])";
    }

    private Draw drawThatIsOver(String yaml) {
        Draw draw = draws.create(yaml);
        books.execute("update draw set closes_at = greatest(now(), opens_at + interval '1 microsecond') where id = '"
                + draw.id() + "'");
        return draw;
    }

    /** Plays of two prizes, as many as fit. They are forged: only their number matters. */
    private void forgePlays(Draw draw) {
        books.execute("alter table play disable trigger user");
        books.execute("insert into play (draw, seq, request, nth, round, at, prize, part, user_id)"
                + " select '" + draw.id() + "', n, gen_random_uuid(), n / 2 + 1, 1, now(), n % 2 + 1, 0, 'u' || n"
                + " from generate_series(0, " + (PLAYS - 1) + ") as n");
        books.execute("alter table play enable trigger user");
        books.execute("update prize set issued = " + PLAYS / 2 + " where draw = '" + draw.id() + "' and n <= 2");
        books.execute("vacuum analyze play");
    }

    @Test
    void whatACloseReadsDoesNotGrowWithThePlaysAndATableThatLacksOneIsNotTrue() throws SQLException {
        // Given
        Draw draw = drawThatIsOver("{mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
        forgePlays(draw);
        TestDatabase.rolledBack(servers.postgresAppUrl(), statement -> {
            // When
            ResultSet ended = statement.executeQuery(settled(draw));
            ended.next();

            // Then
            assertThat(ended.getString("closed")).isEqualTo("{" + draw.id() + "}");
            assertThat(ended.getString("wrong")).isEqualTo("{}");
            assertThat(only(
                            statement,
                            "select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))"
                                    + " from pg_class where relname like 'play%'")) // and the indexes'
                    .isLessThan(100);
            assertThat(only(
                            statement,
                            "select (final_table -> 'prizes' -> 0 ->> 'played')::bigint from draw where id = '"
                                    + draw.id() + "'"))
                    .isEqualTo(PLAYS / 2);
        });

        // When one more of a prize is issued than was played
        books.execute("update prize set issued = issued + 1 where n = 2 and draw = '" + draw.id() + "'");

        // Then
        TestDatabase.rolledBack(servers.postgresAppUrl(), statement -> {
            ResultSet ended = statement.executeQuery(settled(draw));
            ended.next();
            assertThat(ended.getString("wrong")).isEqualTo("{" + draw.id() + "}");
        });
    }

    private static long only(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @Test
    void drawsAreLockedBeforePrizesAsByWhoPlansAPeriod() throws SQLException {
        // Given a draw that ends together with a period of which nobody took the release
        Draw draw = draws.create("""
            mode: schedule
            closesAt: "%s"
            prizes: [{name: a, quota: 1, stock: 10}]
            fallback: {name: b}
            """.formatted(Instant.now().plusSeconds(3_600)));
        books.execute("select plan_period('" + draw.id() + "', 0, now() - interval '1 hour', now(),"
                + " array[1]::smallint[], array[now()])");
        books.execute("update draw set closes_at = greatest(now(), opens_at + interval '1 microsecond') where id = '"
                + draw.id() + "'");
        String ends =
                "select closed from shard, settle_draw_ends(array[id], array[epoch], array[nonce], array[last_seq],"
                        + " array[last_seq + 1], array['%1$s', '%1$s']::uuid[], array[0, null])".formatted(draw.id());

        try (Connection planner = TestDatabase.connect(servers.postgresOwnerUrl());
                Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement settlement = app.createStatement();
                Statement planning = planner.createStatement()) {
            planner.setAutoCommit(false);
            app.setAutoCommit(false);
            planning.execute("set lock_timeout = '5s'");
            planning.execute("select from draw where id = '" + draw.id() + "' for share");
            long pid = only(settlement, "select pg_backend_pid()");

            // When they are settled while another period is planned
            CompletableFuture<Boolean> ended = CompletableFuture.supplyAsync(() -> {
                try {
                    return settlement.execute(ends);
                } catch (SQLException fault) {
                    throw new IllegalStateException(fault);
                }
            });
            eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(books.longOf("select count(*) from pg_locks where not granted and pid = " + pid))
                            .isEqualTo(1));
            planning.execute("select from prize where draw = '" + draw.id() + "' order by n for no key update");
            planner.rollback();

            // Then
            assertThat(ended.join()).isTrue();
            app.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shop", "vera"})
    void aDrawIsPassedOverWhileSomebodyHoldsAWalletThatItPays(String owner) throws SQLException {
        // Given a draw with a cost that is held: its end pays the player and its owner
        Draw draw = draws.create("""
            {closesAt: '%s', mode: weights, cost: {asset: POINTS, amount: 5}, prizes: [{name: a, weight: 1}]}
            """.formatted(Instant.now().plusSeconds(600)));
        books.hold(draw, "vera", newKey(), 1);
        books.hold(draw, "vera", newKey(), 1);
        // one is spent, as by a play that was settled
        books.execute("delete from play_request where id = (select id from play_request where draw = '" + draw.id()
                + "' limit 1)");
        books.execute("update draw set closes_at = greatest(now(), opens_at + interval '1 microsecond') where id = '"
                + draw.id() + "'");

        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement settlement = app.createStatement()) {
            app.setAutoCommit(false);
            settlement.execute("set lock_timeout = '5s'");

            // When the end comes while another transaction holds one of the wallets, then nothing waits
            try (Connection other = TestDatabase.lockRows(
                    servers.postgresOwnerUrl(), "account where owner = '" + owner + "' and asset = 'POINTS'")) {
                assertThat(closed(settlement, draw)).isEqualTo("{}");
                other.rollback();
            }
            app.rollback();

            // When the end comes again, then
            assertThat(closed(settlement, draw)).isEqualTo("{" + draw.id() + "}");
            assertThat(only(settlement, "select sum(balance) from account where owner = '" + draw.id() + "'"))
                    .isZero();
            app.rollback();
        }
    }

    private static String closed(Statement settlement, Draw draw) throws SQLException {
        ResultSet ended = settlement.executeQuery(settled(draw));
        ended.next();
        return ended.getString("closed");
    }

    /** An owner looks at each tick. The draws are forged: only their number matters. */
    @Test
    void aLookForWorkReadsOnlyWhatItFinds() throws SQLException {
        // Given many open draws without a schedule
        Draw draw = draws.create("{mode: table, prizes: [{name: a, count: 1}]}");
        TestDatabase.rolledBack(servers.postgresOwnerUrl(), sql -> {
            sql.execute("alter table draw disable trigger user");
            sql.execute("insert into draw (id, shard, owner, mode, definition, seed, commitment, opens_at, closes_at)"
                    + " select gen_random_uuid(), shard, owner, mode, definition, seed, commitment, opens_at, closes_at"
                    + " from draw, generate_series(1, 20000) where id = '" + draw.id() + "'");
            sql.execute("insert into play_request (id, draw, user_id, plays, cost, attempt, status, reason, decided_at)"
                    + " select id, id, 'bob', 1, 1, id, 'returned', 'undecided', now() from draw");
            sql.execute("update play_request set status = 'held', decided_at = null where id in"
                    + " (select id from play_request limit 100)");
            sql.execute("analyze draw, play_request");

            // When, Then
            assertThat(plan(sql, DrawStore.SCHEDULED)).contains("draw_scheduled");
            assertThat(plan(sql, DrawOwnerTask.PERIODS_OVER.formatted("1"))).contains("draw_scheduled");
            assertThat(plan(sql, DrawOwnerTask.DUE.formatted("1"))).contains("draw_due");
            assertThat(explain(sql, HoldExpiry.HELD_TOO_LONG.replace("$2", "0").replace("$3", "256")))
                    .contains("play_request_held", "draw_pkey")
                    .doesNotContain("Seq Scan on draw", "Seq Scan on play_request");
        });
    }

    private static String plan(Statement sql, String rows) throws SQLException {
        return explain(sql, "select (select true from " + rows + " limit 1)");
    }

    private static String explain(Statement sql, String query) throws SQLException {
        try (ResultSet lines = sql.executeQuery("explain " + query.replace("$1", "array[0, 1, 2, 3]"))) {
            StringBuilder plan = new StringBuilder();
            while (lines.next()) {
                plan.append(lines.getString(1)).append('\n');
            }
            return plan.toString();
        }
    }

    private DrawView seenByVera(Draw draw) {
        return get(engine.loop(0).call(services -> services.draws.view(member("vera"), draw.id())));
    }

    @Test
    void playsAreCountedAsFarAsTenThousand() {
        // Given a draw that counts nobody's plays
        Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        books.execute("alter table play disable trigger user");
        books.execute("insert into play (draw, seq, request, nth, round, at, prize, part, user_id)"
                + " select '" + draw.id() + "', n, gen_random_uuid(), n + 1, 1, now(), 1, 0, 'vera'"
                + " from generate_series(0, 10000) as n");
        books.execute("alter table play enable trigger user");

        // When, then
        assertThat(seenByVera(draw).plays()).isEqualTo(10_000);
    }

    @Test
    void aDrawWithLimitsHasCountedThem() {
        // Given
        Draw draw = draws.create("{mode: weights, limits: {total: 30000}, prizes: [{name: a, weight: 1}]}");
        assertThat(seenByVera(draw)).returns(0L, DrawView::plays).returns(30_000L, DrawView::left);
        books.execute(
                "insert into player (draw, user_id, counters) values ('" + draw.id() + "', 'vera', '{20000, 1, 1}')");

        // When, then
        assertThat(seenByVera(draw))
                .returns(20_000L, DrawView::plays)
                .returns(10_000L, DrawView::left)
                .returns(null, DrawView::leftToday);
    }
}
