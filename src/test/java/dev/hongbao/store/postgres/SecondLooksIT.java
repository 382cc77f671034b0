package dev.hongbao.store.postgres;

import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Rain;
import dev.hongbao.draw.Draw;
import dev.hongbao.ledger.Assets;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.server.Operations;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Overlap;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A statement that waited for a lock sees what was committed meanwhile. The writer is stopped: each test settles by itself. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecondLooksIT {
    private static final String PRIZES = "prizes: [{name: a, quota: 3, stock: 5}], fallback: {name: b}";

    private TestServers servers;
    private TestEngine engine;
    private TestCampaigns campaigns;
    private TestDraws draws;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        campaigns = new TestCampaigns(engine);
        draws = new TestDraws(engine);
        engine.deposit("shop", 1_000_000);
        get(engine.engine().stopWriter());
        books.execute("update installation set unique_references = true");
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    /** A deposit or a withdrawal of an amount of a user's own. @return its verdict */
    private static String move(String kind, String user, long amount, String key, String reference) {
        return "select verdict from move_wallets('" + kind + "', array[gen_random_uuid()], array['backend'], array['"
                + user
                + "'], array['CNY'], array[" + amount + "]::bigint[], array['" + key
                + "'], array['\\x01'::bytea], array['service'], array[" + reference + "]::text[], array[null]::text[])";
    }

    private static String move(String kind, String user, long amount) {
        return move(kind, user, amount, newKey().value(), "null");
    }

    /** A statement that settles, and leaves the shard's cursor where it is. */
    private static String settle(String what, String arguments) {
        return "select " + what + "(array[id], array[epoch], array[nonce], array[last_seq], array[last_seq], "
                + arguments + ") from shard";
    }

    private static String close(Object packet) {
        return settle("settle_closes", "array['" + packet + "']::uuid[], array['closed'], array['shop']");
    }

    private static String endOf(Draw draw, String period) {
        return settle("settle_draw_ends", "array['" + draw.id() + "']::uuid[], array[" + period + "]::integer[]");
    }

    /** Runs statements, each within a second, while eight connections run another one again and again, each for 20 ms. */
    private void runBeside(Supplier<String> repeated, String... statements) throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(8);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        Callable<Void> repeating = () -> {
            try (Connection connection = TestDatabase.connect(servers.postgresAppUrl());
                    Statement statement = connection.createStatement()) {
                while (!isOver.get()) {
                    statement.execute("select pg_sleep(0.02) from (" + repeated.get() + " offset 0) as r");
                    begun.countDown();
                }
            }
            return null;
        };
        List<java.util.concurrent.Future<Void>> all =
                Stream.generate(() -> threads.submit(repeating)).limit(8).toList();
        try (Connection connection = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("set statement_timeout = '1s'");
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
            for (String sql : statements) {
                statement.execute(sql);
            }
        } finally {
            isOver.set(true);
            threads.shutdown();
        }
        for (var each : all) {
            each.get();
        }
    }

    /**
     * Runs a statement that waits for another transaction, which commits then.
     *
     * @param meanwhile what that transaction does while the statement waits
     * @return what the statement tells
     */
    private @Nullable String afterWaitingFor(String first, String second, String... meanwhile) throws SQLException {
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first(first);
            var waiting = overlap.second(second);
            for (String statement : meanwhile) {
                overlap.first(statement);
            }
            overlap.commit();
            return waiting.join();
        }
    }

    // The ledger

    @Test
    void aWithdrawalThatWaitedForAnotherIsToldThatTheWalletIsPoor() throws SQLException {
        // Given
        engine.deposit("ann", 100);
        // When
        String second = afterWaitingFor(move("withdrawal", "ann", 60), move("withdrawal", "ann", 60));

        // Then
        assertThat(second).isEqualTo("poor");
    }

    @Test
    void aCommandThatWaitedForItsKeyIsARepetition() throws SQLException {
        // When
        String second =
                afterWaitingFor(move("deposit", "ben", 5, "one", "null"), move("deposit", "ben", 5, "one", "null"));

        // Then
        assertThat(second).isEqualTo("replayed");
        assertThat(engine.balance("ben")).isEqualTo(5);
    }

    @Test
    void aReferenceThatSomebodyIsUsingIsToldOnceItIsUsed() {
        // Given a command that moves other money
        String sends = "insert into command (id, operation, actor, role, key, reference)"
                + " values (gen_random_uuid(), 'send', 'backend', 'service', 'second', 'ref')";

        // When it has the reference, too, Then
        assertThatThrownBy(() -> afterWaitingFor(move("deposit", "cem", 1, "first", "'ref'"), sends))
                .hasStackTraceContaining("command_reference_once");
    }

    @Test
    void aReversalThatWaitedForAnotherIsToldOfIt() throws SQLException {
        // Given
        long deposit = engine.deposit("eve", 100).id();
        // When
        String second = afterWaitingFor(reverse("eve", deposit), reverse("eve", deposit));

        // Then
        assertThat(second).isEqualTo("reversed");
    }

    @Test
    void aReversalThatWaitedForTheMoneyToGoIsToldThatTheWalletIsPoor() throws SQLException {
        // Given
        long deposit = engine.deposit("flo", 100).id();
        // When
        String second = afterWaitingFor(move("withdrawal", "flo", 60), reverse("flo", deposit));

        // Then
        assertThat(second).isEqualTo("poor");
    }

    private static String reverse(String user, long transfer) {
        return "select verdict from reverse_transfer('" + user + "', " + transfer
                + ", gen_random_uuid(), 'backend', 'service', '" + newKey().value() + "', '\\x01', null, 'why')";
    }

    @Test
    void whoDeclaresWhatSomebodyDeclaresIsToldThatItIsKnown() throws SQLException {
        String declares = "select declare_asset('TWICE', 0::smallint, 't', 'everybody', null, null, null)";
        // When
        String second = afterWaitingFor(declares, declares);

        // Then
        assertThat(second).isEqualTo("known");
    }

    @Test
    void aSendThatWaitedForAnotherIsCountedWithItsDay() throws SQLException {
        // Given 100 a day, and 90 that somebody has sent and not yet counted
        Asset jade = new Asset("JADE");
        engine.declare(jade, Assets.Terms.Senders.EVERYBODY, new Assets.Terms.Caps(null, null, 100L));
        draws.deposit("gil", jade, 1_000);
        get(sending("gil", jade, 90));
        books.execute("update sent_on_day set amount = 1");
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select lock_accounts(array_agg(id)) from account where owner = 'gil'");
            overlap.first("update sent_on_day set amount = 90");

            // When
            Future<Packet> send = sending("gil", jade, 20);
            overlap.awaitMeeting(send::isComplete);
            overlap.commit();

            // Then
            TestCampaigns.assertRefused(Refusal.DAY_CAP_REACHED, () -> get(send));
        }
    }

    private Future<Packet> sending(String user, Asset asset, long amount) {
        SendCommand command =
                SendCommand.of(GROUP, Packet.Kind.LUCKY, asset, amount, 2).build();
        return engine.loop(0).call(services -> services.packets.send(member(user), command, newKey()));
    }

    @Test
    void depositsThatWaitedForAnotherStayWithItInTheLedgersRange() throws SQLException {
        // Given an asset of which 99 more may come in
        engine.declare(new Asset("VAST"));
        draws.deposit("rob", new Asset("VAST"), 1);
        String moves =
                "update account set balance = balance %s 8999999999999999899 where owner = 'outside' and asset = 'VAST'";
        books.execute(moves.formatted("-"));

        // When two deposit 60
        String second = afterWaitingFor(
                "select lock_accounts(array_agg(id)) from account where asset = 'VAST'",
                "select verdict from deposit_all(array[gen_random_uuid()], 'backend', array['rob'],"
                        + " array['VAST'], array[60]::bigint[], array[null]::text[], array[null]::text[], 'vast', '\\x01')",
                move("deposit", "rob", 60).replace("CNY", "VAST"));

        // Then
        assertThat(second).isEqualTo("beyond");
        books.execute(moves.formatted("+"));
    }

    // Access

    @Test
    void aSendThatWaitedForAFreezeIsRefused() throws SQLException {
        // Given
        engine.deposit("hal", 100);
        try (Overlap overlap = new Overlap(servers)) {
            assertThat(overlap.first(freeze("hal"))).isEqualTo("t");

            // When
            Future<Packet> send = sending("hal", TestEngine.CNY, 20);
            overlap.awaitMeeting(send::isComplete);
            overlap.commit();

            // Then
            TestCampaigns.assertRefused(Refusal.FROZEN, () -> get(send));
        }
    }

    @Test
    void aFreezeWaitsForWhatMovesMoneyOut() throws SQLException {
        // Given
        engine.deposit("ida", 100);
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first(move("withdrawal", "ida", 60));

            // When
            var second = overlap.second(freeze("ida"));

            // Then
            assertThat(second).isNotDone();
            overlap.commit();
            assertThat(second.join()).isEqualTo("t");
        }
    }

    @Test
    void aFreezeThatWaitedForAnotherChangesNothing() throws SQLException {
        // When
        String second = afterWaitingFor(freeze("jan"), freeze("jan"));

        // Then
        assertThat(second).isEqualTo("f");
    }

    private static String freeze(String user) {
        return "select change_restriction('user', '" + user + "', 'frozen', true, 'backend', 'why')";
    }

    @Test
    void aRevocationThatWaitedForItsKeyIsARepetition() throws SQLException {
        String revokes = "select repeated from revoke_tokens('kim', null, 'backend', 'key', null)";
        // When
        String second = afterWaitingFor(revokes, revokes);

        // Then
        assertThat(second).isEqualTo("t");
    }

    @Test
    void rowsOfTheAuditLogFollowOnThoseThatWereBeingWritten() throws SQLException {
        String appends =
                "select audit_append(array['a'], array['service'], array[null]::text[], array[null]::text[], array['GET'],"
                        + " array['/'], array[null]::text[], array[200]::smallint[], array[null]::text[], array[null]::text[],"
                        + " array[1]::bigint[], array[0]::bigint[])";
        long before = books.longOf("select count(*) from audit_log");
        // When
        afterWaitingFor(appends, appends);

        // Then
        assertThat(books.longOf("select count(*) from audit_log")).isEqualTo(before + 2);
    }

    // Campaigns

    private static String campaign(Campaign.View made) {
        return "campaign where id = '" + made.campaign().id() + "'";
    }

    private static String judge(Campaign.View campaign) {
        return "select verdicts[1] from judge_pools(array[null]::text[], array[600000]::bigint[], array['"
                + campaign.campaign().id() + "']::uuid[], array['shoe'], array['ann'], array['family'])";
    }

    @Test
    void aPoolThatWaitedForTheEndIsTooLate() throws SQLException {
        // Given
        Campaign.View campaign = campaigns.create(definition(100, 5));

        // When the campaign ends after somebody began to open a pool
        String second = afterWaitingFor(
                "select true from " + campaign(campaign) + " for no key update",
                judge(campaign),
                "select end_campaign('" + campaign.campaign().id() + "')");

        // Then
        assertThat(second).isEqualTo("over");
    }

    @Test
    void aPoolThatWaitedForAnotherIsCountedWithIt() throws SQLException {
        assertPoolIsJudged("opened", new JsonObject().put("onePerProduct", true));
        assertPoolIsJudged("daily", new JsonObject().put("poolsADay", 1));
    }

    private void assertPoolIsJudged(String verdict, JsonObject opening) throws SQLException {
        // Given a pool whose transaction is not committed
        Campaign.View campaign = campaigns.create(definition(100, 5).put("opening", opening));
        campaigns.open(campaign, "ann", "shoe");
        String one = "pool where campaign = '" + campaign.campaign().id() + "'";
        books.execute("create table uncommitted as select * from " + one
                + "; alter table pool disable trigger user; delete from " + one
                + "; alter table pool enable trigger user");

        // When
        String second =
                afterWaitingFor(judge(campaign) + "; insert into pool select * from uncommitted", judge(campaign));

        // Then
        assertThat(second).isEqualTo(verdict);
        books.execute("drop table uncommitted");
    }

    @Test
    void aCampaignEndsAfterWhatItsEndWaitedFor() throws SQLException {
        // Given
        Campaign.View campaign = campaigns.create(definition(100, 5));
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select true from " + campaign(campaign) + " for no key update");

            // When
            var second =
                    overlap.second("select end_campaign('" + campaign.campaign().id() + "')");
            String moment = overlap.first("select clock_timestamp()");
            overlap.commit();

            // Then
            second.join();
            assertThat(books.strings("select ends_at >= '" + moment + "' from " + campaign(campaign)))
                    .containsExactly("t");
        }
    }

    @Test
    void aPoolThatIsClosedWhileItsCampaignEndsKeepsItsTimes() throws SQLException {
        // Given a campaign that was ended, and a pool that is being closed
        Campaign.View campaign = campaigns.create(definition(100, 5));
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        String times = "select opens_at || ' ' || expires_at from packet where id = '" + pool.id() + "'";
        String before = books.strings(times).get(0);
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select true from shard for no key update");
            books.execute("select end_campaign('" + campaign.campaign().id() + "')");
            overlap.first(close(pool.id()));

            // When
            var second = overlap.second(
                    "select end_pools(array['" + campaign.campaign().id() + "']::uuid[], 10)");
            overlap.commit();

            // Then
            second.join();
            assertThat(books.strings(times)).containsExactly(before);
        }
    }

    @Test
    void aCampaignIsClosedOnceHoweverManyClose() throws SQLException {
        // Given a campaign that has ended, which somebody closes
        Campaign.View campaign = campaigns.create(definition(100, 5));
        campaigns.end(campaign.campaign().id());
        String closes = "select count(*) from close_campaigns(array[0]::smallint[]) where campaign = '"
                + campaign.campaign().id() + "'";
        books.strings(closes); // ends its pools
        try (Overlap overlap = new Overlap(servers)) {
            assertThat(overlap.first(closes)).isEqualTo("1");

            // When
            var second = overlap.second(closes);
            overlap.commit();

            // Then
            assertThat(second.join()).isEqualTo("0");
        }
    }

    @Test
    void campaignsEndAndCloseWhilePoolsOfSeveralAreOpened() throws SQLException {
        // Given a campaign that can close, a later one whose pools end, and somebody who opens a pool of the first
        String closes = "select count(*) from close_campaigns(array[0]::smallint[])";
        Campaign.View first = campaigns.create(definition(100, 5));
        campaigns.end(first.campaign().id());
        books.strings(closes);
        Campaign.View second = campaigns.create(definition(100, 5));
        campaigns.end(second.campaign().id());
        String lock = "select true from %s for no key update";

        // When
        String closing = afterWaitingFor(lock.formatted(campaign(first)), closes, lock.formatted(campaign(second)));

        // Then neither fails for the other
        assertThat(closing).isEqualTo("0");
        books.strings(closes);
        assertThat(books.longOf("select count(*) from campaign where closed_at is not null and id in ('"
                        + first.campaign().id() + "', '" + second.campaign().id() + "')"))
                .isEqualTo(2);
    }

    @Test
    void aDropThatIsClosedWhileItsRainIsCancelledWaitsForItsPacketFirst() throws SQLException {
        // Given somebody who cancels a rain, and holds its drops
        engine.deposit("shop", 1_000);
        Rain.View rain = new TestRains(engine).create(TestRains.definition(3_000, 2, 5, 1));
        String drop = books.strings("select max(packet::text) from pool where campaign = '"
                        + rain.rain().id() + "'")
                .get(0);

        // When
        afterWaitingFor(
                "select true from packet where id = '" + drop + "' for no key update",
                close(drop),
                "select true from unannounced where packet = '" + drop + "' for update");

        // Then neither fails for the other
        assertThat(books.longOf("select count(*) from unannounced where packet = '" + drop + "'"))
                .isZero();
    }

    @Test
    void aDropThatIsAnnouncedWhileItsRainIsCancelledHasFallen() throws SQLException {
        // Given two drops, of which the second one falls in two seconds; somebody holds the first one's announcement
        engine.deposit("shop", 1_000);
        Rain.View rain = new TestRains(engine).create(TestRains.definition(3_000, 2, 5, 1));
        String id = rain.rain().id().toString();
        List<String> drops = books.strings("select packet from pool where campaign = '" + id + "' order by packet");
        String second = "packet where id = '" + drops.get(1) + "'";
        books.execute("update packet set opens_at = expires_at - interval '1 second' where id = '" + drops.get(0) + "';"
                + " update packet set opens_at = now() + interval '2 seconds' where id = '" + drops.get(1) + "'");
        CompletableFuture<String> cancelling;
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select true from unannounced where packet = '" + drops.get(0) + "' for update");

            // When it is cancelled, and meanwhile the second one falls and is announced
            cancelling = overlap.second("select cancel_rain('" + id + "')");
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(books.strings("select opens_at <= now() from " + second))
                            .containsExactly("t"));
            books.execute("select feed_announce(array['" + drops.get(1) + "']::uuid[])");
            overlap.commit();
        }

        // Then
        cancelling.join();
        assertThat(books.strings("select has_fallen(p.opens_at, r.cancelled_at) from rain as r, packet as p"
                        + " where r.id = '" + id + "' and p.id = '" + drops.get(1) + "'"))
                .containsExactly("t");
    }

    // Draws

    private static String hold(Draw draw, String user, UUID request, UUID attempt) {
        return "select status || ' ' || attempt from hold_plays(array['" + request + "']::uuid[], array['" + draw.id()
                + "']::uuid[], array['" + user + "'], array[1]::smallint[], array['" + attempt + "']::uuid[])";
    }

    private Draw paid(String user) {
        draws.deposit(user, TestDraws.POINTS, 100);
        return draws.create("{mode: weights, cost: {asset: POINTS, amount: 10}, prizes: [{name: a, weight: 1}]}");
    }

    @Test
    void aCostIsNotHeldForADrawThatCloses() throws SQLException {
        // Given a draw that somebody closes
        Draw draw = paid("lea");
        books.execute("update draw set closes_at = now() where id = '" + draw.id() + "'");

        // When
        String second = afterWaitingFor(endOf(draw, "null"), hold(draw, "lea", UUID.randomUUID(), UUID.randomUUID()));

        // Then
        assertThat(second).startsWith("closed ");
        assertThat(draws.balance("lea", TestDraws.POINTS)).isEqualTo(100);
    }

    @Test
    void aDrawThatClosesWaitsForTheCostsThatAreBeingHeldAndGivesThemBack() throws SQLException {
        // Given a cost that is being held
        Draw draw = paid("max");
        books.execute("update draw set closes_at = now() where id = '" + draw.id() + "'");
        // When
        afterWaitingFor(hold(draw, "max", UUID.randomUUID(), UUID.randomUUID()), endOf(draw, "null"));

        // Then
        assertThat(draws.balance("max", TestDraws.POINTS)).isEqualTo(100);
    }

    @Test
    void aDrawClosesWhileCostsAreHeldWithoutAPause() throws Exception {
        // Given
        Draw draw = paid("uma");

        // When it is ended and closed, then neither waits for long
        runBeside(
                () -> hold(draw, "uma", UUID.randomUUID(), UUID.randomUUID()),
                "update draw set closes_at = now() where id = '" + draw.id() + "'",
                endOf(draw, "null"));
        assertThat(draws.balance("uma", TestDraws.POINTS)).isEqualTo(100);
    }

    @Test
    void aRequestThatWaitedForItselfIsHeldOnce() throws SQLException {
        // Given
        Draw draw = paid("nia");
        UUID request = UUID.randomUUID();
        UUID attempt = UUID.randomUUID();
        // When
        String second =
                afterWaitingFor(hold(draw, "nia", request, attempt), hold(draw, "nia", request, UUID.randomUUID()));

        // Then
        assertThat(second).isEqualTo("held " + attempt);
        assertThat(draws.balance("nia", TestDraws.POINTS)).isEqualTo(90);
    }

    @Test
    void aRequestThatWaitedForItsSweepIsHeld() throws SQLException {
        // Given a returned cost, whose request is being swept
        Draw draw = paid("oda");
        UUID request = UUID.randomUUID();
        UUID attempt = UUID.randomUUID();
        books.execute(hold(draw, "oda", request, attempt));
        books.execute(settle(
                "settle_plays",
                "array['" + draw.id() + "']::uuid[], array[1], array['" + request + "']::uuid[], array['oda'], array['"
                        + attempt + "']::uuid[], array[now()], array[0]::bigint[], array[''], array[null]::integer[],"
                        + " array['undecided'], '{}', '{}', '{}', '{}', '{}', '{}'"));
        try (Overlap overlap = new Overlap(servers)) {
            assertThat(overlap.first("select play_request_sweep('0', 100)")).isNotEqualTo("0");

            // When
            var second = overlap.second(hold(draw, "oda", request, attempt));
            overlap.commit();

            // Then
            assertThat(second.join()).isEqualTo("held " + attempt);
            assertThat(draws.balance("oda", TestDraws.POINTS)).isEqualTo(90);
            assertThat(books.strings("select status from play_request where id = '" + request + "'"))
                    .containsExactly("held");
        }
    }

    private static String plan(Draw draw, int period) {
        return "select plan_period('" + draw.id() + "', " + period
                + ", now() - interval '2 hours', now() - interval '1 hour',"
                + " array[1, 1, 1]::smallint[], array[now(), now(), now()])";
    }

    private Draw scheduled() {
        return draws.create("{mode: schedule, opensAt: \"2037-01-01T00:00:00Z\", closesAt: \"2037-01-02T00:00:00Z\", "
                + PRIZES + "}");
    }

    /**
     * A planner that is slow: it takes what another one left of 5 in stock, and no period that is planned or before a planned one, so
     * that whoever replays the draw finds the periods in the order in which they took from the stock.
     */
    @ParameterizedTest
    @CsvSource({"0, 0, f, 3", "1, 0, f, 0", "0, 1, t, 2"})
    void aPeriodThatWaitedForAnotherTakesWhatItLeftOrIsNotPlanned(int other, int period, String isPlanned, int releases)
            throws SQLException {
        // Given
        Draw draw = scheduled();
        // When
        String second = afterWaitingFor(plan(draw, other), plan(draw, period));

        // Then
        assertThat(second).isEqualTo(isPlanned);
        assertThat(books.longOf(
                        "select count(*) from release where period = " + period + " and draw = '" + draw.id() + "'"))
                .isEqualTo(releases);
    }

    @Test
    void aPlayThatWaitedForTheEndOfItsPeriodTakesNoRelease() throws SQLException {
        // Given a release that nobody took, whose period ends
        Draw draw =
                draws.create("{mode: schedule, closesAt: '" + Instant.now().plusSeconds(7200) + "', " + PRIZES + "}");
        books.execute(plan(draw, 0));
        // When
        String second = afterWaitingFor(
                endOf(draw, "0"),
                settle(
                        "settle_plays",
                        "array['" + draw.id() + "']::uuid[], array[1], array[gen_random_uuid()], array['pam'],"
                                + " array[gen_random_uuid()], array[now()], array[0]::bigint[], array[''], array[0],"
                                + " array[null]::text[], array[1], array[0]::smallint[], array[1]::smallint[],"
                                + " array[1]::bigint[], array[0], array[1]"));

        // Then the play is void
        assertThat(second).contains("{1}");
        assertThat(books.longOf("select issued from prize where n = 1 and draw = '" + draw.id() + "'"))
                .isZero();
    }

    @Test
    void aDrawThatClosedPlansNoMore() throws SQLException {
        // Given
        Draw draw = scheduled();
        books.execute("update draw set closes_at = now() where id = '" + draw.id() + "'");
        // When
        String second = afterWaitingFor(endOf(draw, "null"), plan(draw, 0));

        // Then
        assertThat(second).isEqualTo("f");
    }

    @Test
    void aPeriodEndsOnce() throws SQLException {
        // Given
        Draw draw = scheduled();
        books.execute(plan(draw, 0));
        // When
        afterWaitingFor(endOf(draw, "0"), endOf(draw, "0"));

        // Then
        assertThat(books.longOf("select sum(planned) from prize where draw = '" + draw.id() + "'"))
                .isZero();
    }

    // Feeds

    @Test
    void progressThatWaitedForAPacketsEndIsNotTold() throws SQLException {
        // Given a packet that is announced, and somebody who holds its group's feed
        engine.deposit("ole", 100);
        Packet packet = engine.send("ole", 100, 2);
        books.execute("select feed_announce(array['" + packet.id() + "']::uuid[])");

        // When
        afterWaitingFor(
                "select last from feed where group_id = '" + packet.group() + "' for no key update",
                append(packet.group(), "'packet.progress'", packet.id()),
                close(packet.id()));

        // Then
        assertThat(books.strings("select type from group_event where subject = '" + packet.id() + "'"))
                .doesNotContain("packet.progress");
    }

    /** Runs statements in a transaction of their own, and takes them back. */
    private CompletableFuture<Void> rolledBack(String statements) {
        Runnable work = () -> {
            try (Connection connection = TestDatabase.begin(servers.postgresOwnerUrl(), statements)) {
                connection.rollback();
            } catch (SQLException refused) {
                throw new CompletionException(refused);
            }
        };
        // Not on the pool for all: on two cores JDK 25's has one thread.
        return CompletableFuture.runAsync(work, run -> new Thread(run).start());
    }

    private void awaitWaiting(int many) {
        Eventually.eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from pg_stat_activity"
                                + " where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0"))
                        .isEqualTo(many));
    }

    @Test
    void feedsAreLockedInOneOrderAlsoWhenOneIsNew() throws SQLException {
        // Given unannounced packets of two groups, of which only the first has a feed, and somebody who holds it
        engine.deposit("pia", 200);
        String first = "'" + engine.send("pia", 100, 2).id() + "'";
        String packets = first + ", '" + engine.send("pia", 100, 2).id() + "'";
        String announce = "select feed_announce(array[" + packets + "]::uuid[])";
        books.execute(announce);
        books.execute("insert into feed (group_id) values ('order-a')");
        try (Connection held = TestDatabase.lockRows(servers.postgresOwnerUrl(), "feed where group_id = 'order-a'")) {
            // When they are announced, and other events are appended
            var announced = rolledBack("""
                    delete from group_event where subject in (%1$s);
                    update packet set group_id = 'order-' || case id when %2$s then 'a' else 'b' end where id in (%1$s);
                    insert into unannounced (packet) select id from packet where id in (%1$s);
                    """.formatted(packets, first) + announce);
            awaitWaiting(1);
            var appended = rolledBack(
                    "select feed_append('{order-a,order-b}', '{x,x}', array[" + packets + "]::uuid[], '{0,0}')");
            awaitWaiting(2);
            held.rollback();

            // Then neither waits for the other
            announced.join();
            appended.join();
        }
    }

    private static String append(Object group, String type, Object subject) {
        return "select feed_append(array['" + group + "'], array[" + type + "]::text[], array['" + subject
                + "']::uuid[], array[1])";
    }

    @Test
    void aPacketIsAnnouncedOnceHoweverManyAnnounceIt() throws SQLException {
        // Given a packet that no server knows
        UUID packet = UUID.randomUUID();
        String row = "unannounced where packet = '" + packet + "'";
        books.execute("insert into unannounced (packet) values ('" + packet + "')");
        String drains = append("solo", "'packet.drained'", packet);

        // When
        afterWaitingFor("select packet from " + row + " for update", drains, drains);

        // Then
        assertThat(books.strings("select type from group_event where group_id = 'solo' order by seq"))
                .containsExactly("packet.sent", "packet.drained");
        assertThat(books.longOf("select last from feed where group_id = 'solo'"))
                .isEqualTo(3);
        books.execute("delete from group_event where group_id = 'solo'; delete from feed where group_id = 'solo'");
    }

    /** A draw of a group, of which a play is settled. */
    private Draw played(String group) {
        Draw draw = draws.create(
                "{group: " + group + ", mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
        books.execute("update prize set announced = true where draw = '" + draw.id() + "'");
        books.execute("insert into play (draw, seq, request, nth, round, at, prize, part, user_id) values ('"
                + draw.id() + "', 0, gen_random_uuid(), 1, 1, now(), 1, 0, 'quy')");
        return draw;
    }

    private static String tells(Draw draw, String gap) {
        return "select feed_draws(array['" + draw.id() + "']::uuid[], interval '" + gap + "')::text";
    }

    @Test
    void winsOfADrawWaitForThoseThatAnotherOwnerTells() throws SQLException {
        // Given two draws of a group that has a feed
        Draw one = played("pair");
        Draw other = played("pair");
        books.execute("insert into feed (group_id) values ('pair') on conflict do nothing");

        // When
        String waiting = afterWaitingFor(tells(one, "1 hour"), tells(other, "1 hour"));

        // Then
        assertThat(waiting).isEqualTo("{" + other.id() + "}");
    }

    @Test
    void winsThatSomebodyTellsAreToldOnce() throws SQLException {
        // Given
        String tells = tells(played("wins"), "0");
        // When
        afterWaitingFor(tells, tells);

        // Then
        assertThat(books.strings("select type from group_event where group_id = 'wins' order by seq"))
                .containsExactly("draw.opened", "draw.won");
    }

    @Test
    void aRainThatSomebodyTellsOfHasBegunOnce() throws SQLException {
        // Given
        engine.deposit("shop", 1_000);
        String rain = new TestRains(engine)
                .create(TestRains.definition(3_000, 2, 5, 1))
                .rain()
                .id()
                .toString();
        Eventually.eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.strings("select starts_at <= now() from rain where id = '" + rain + "'"))
                        .containsExactly("t"));
        String tells = "select told from feed_rains(array[0]::smallint[], interval '1 hour')";
        try (Overlap overlap = new Overlap(servers)) {
            assertThat(overlap.first(tells)).isEqualTo("t");

            // When
            var second = overlap.second(tells);
            overlap.commit();

            // Then
            assertThat(second.join()).isEqualTo("f");
        }
    }

    // What servers do in turns

    @Test
    void nobodyWaitsForWhoCountsWhatMoved() throws SQLException {
        try (Overlap overlap = new Overlap(servers)) {
            // Given
            overlap.first("select counted from turnover_place for update");

            // When
            var second = overlap.second("select count_turnover(10)");

            // Then
            assertThat(second).isCompletedWithValue("f");
        }
    }

    @Test
    void aGenerationIsDrawnAfterTheSendsOfTheOneBefore() throws SQLException {
        try (Overlap overlap = new Overlap(servers)) {
            // Given somebody who sends
            overlap.first("select id from hold_generations(array[0]::smallint[])");

            // When
            var second =
                    overlap.second("select draw_generation(0::smallint, -1, 'another', 1, false, 'new', 'replica')");

            // Then
            assertThat(second).isNotDone();
            overlap.commit();
            assertThat(second.join()).isNull();
        }
    }

    @Test
    void aGenerationIsDrawnWhileUsersSendWithoutAPause() throws Exception {
        runBeside(
                () -> "select id from hold_generations(array[0]::smallint[])",
                "select draw_generation(0::smallint, -1, 'another', 1, false, 'new', 'replica')");
    }

    // What is set aside

    @Test
    void whatComesBackWhileSomebodyReplaysItIsSetAsideNoMore() throws SQLException {
        // Given
        String unit = setAside();
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select id from shard for no key update");
            overlap.first("delete from quarantine_unit where id = '" + unit + "'");

            // When
            CompletableFuture<Integer> second = replaying(unit);
            overlap.awaitMeeting(second::isDone);
            overlap.commit();

            // Then
            assertThat(second.join()).isEqualTo(-1);
        }
    }

    @Test
    void anEntryThatIsBeingSetAsideIsReplayed() throws SQLException {
        // Given an entry that nobody can settle
        String unit = setAside();
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select id from shard for no key update");
            overlap.first(
                    "insert into quarantine (unit, verb, item, at) values ('" + unit + "', 'nothing', '', now())");

            // When
            CompletableFuture<Integer> second = replaying(unit);
            overlap.awaitMeeting(second::isDone);
            overlap.commit();

            // Then
            assertThatThrownBy(second::join).hasStackTraceContaining("an entry of verb nothing");
        }
        books.execute("delete from quarantine; delete from quarantine_unit");
    }

    private String setAside() {
        String unit = UUID.randomUUID().toString();
        books.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason) values ('" + unit
                + "', 'packet', 0, '', 'why')");
        return unit;
    }

    private CompletableFuture<Integer> replaying(String unit) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return Operations.replay(TestEngine.stores(servers), UUID.fromString(unit));
            } catch (Exception failed) {
                throw new CompletionException(failed);
            }
        });
    }

    // Keys of what is done in more than one statement

    @Test
    void aCreationThatWaitedForItsKeyIsARepetition() throws SQLException {
        // Given a campaign that somebody creates under a key
        IdempotencyKey key = newKey();
        JsonObject terms = definition(100, 5);
        Campaign.View made = get(creating(terms, key));
        String row = "idempotency where key = '" + key.value() + "'";
        books.execute("create table used as select * from " + row + "; delete from " + row);
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first(
                    "select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', user_id, operation, key), 0)) from used");
            overlap.first("insert into idempotency select * from used");

            // When
            Future<Campaign.View> second = creating(terms, key);
            overlap.awaitMeeting(second::isComplete);
            overlap.commit();

            // Then
            assertThat(get(second).campaign().id()).isEqualTo(made.campaign().id());
        }
    }

    private Future<Campaign.View> creating(JsonObject terms, IdempotencyKey key) {
        return engine.loop(0).call(services -> services.campaigns.create(TestDraws.SERVICE, terms, key));
    }
}
