package dev.hongbao.draw;

import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestDraws.SERVICE;
import static dev.hongbao.testing.TestDraws.counts;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.Play.PlayOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plays on real stores, without a face. After each test the books are clean. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PlayIT {
    private static final String PAID = """
        mode: table
        whenExhausted: repeat
        cost: {asset: POINTS, amount: 10}
        prizes:
          - {name: cash, count: 2, stock: 200, award: {asset: CNY, amount: 50}}
          - {name: nothing, count: 8}
        """;

    private TestServers servers;
    private TestEngine engine;
    private TestDraws draws;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        // A slow machine settles later, but it settles: nobody is told that the outcome is unknown.
        engine = TestEngine.start(servers, 2, Map.of("claim.settle-timeout", "20s"));
        draws = new TestDraws(engine);
        books = new Books(servers);
        draws.deposit("shop", CNY, 1_000_000);
    }

    @AfterAll
    void stop() {
        books.assertReconciled();
        // What the script lets through, the settlement would still stop; it must not come to that.
        assertThat(engine.metrics().get("hongbao.journal.voids").counter().count())
                .isZero();
        engine.close();
    }

    private List<PlayOutcome> playAll(Draw draw, int plays, int users) {
        List<Future<PlayOutcome>> all = new ArrayList<>();
        for (int i = 0; i < plays; i++) {
            all.add(draws.play(i, draw, "user" + i % users));
        }
        return all.stream().map(TestEngine::get).toList();
    }

    @Test
    void aRoundGivesEachPrizeExactlyItsCountWhateverTheConcurrency() {
        // Given
        Draw draw = draws.create("""
            mode: table
            whenExhausted: stop
            prizes:
              - {name: gold, count: 1}
              - {name: silver, count: 19}
              - {name: bronze, count: 180}
              - {name: nothing, count: 800}
            """);

        // When 64 users play a whole round, and 100 plays more
        List<PlayOutcome> outcomes = playAll(draw, 1100, 64);

        // Then
        assertThat(outcomes.stream().filter(each -> each.kind() == Kind.PLAYED)).hasSize(1000);
        assertThat(outcomes.stream().filter(each -> each.kind() == Kind.EXHAUSTED))
                .hasSize(100);
        assertThat(counts(draws.plays(draw)))
                .isEqualTo(Map.of("gold", 1L, "silver", 19L, "bronze", 180L, "nothing", 800L));
    }

    @Test
    void theSameKeyGivesTheSamePrizesAndIsPaidOnce() {
        // Given
        draws.deposit("again", POINTS, 1000);
        Draw draw = draws.create(PAID);
        IdempotencyKey key = newKey();

        // When it is asked for many times at once, and once more later
        List<Future<PlayOutcome>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(draws.play(i, draw, "again", 3, key));
        }
        List<PlayOutcome> outcomes = all.stream().map(TestEngine::get).toList();
        PlayOutcome later = get(draws.play(0, draw, "again", 3, key));

        // Then
        assertThat(outcomes).allSatisfy(each -> assertThat(each.plays()).isEqualTo(later.plays()));
        assertThat(later.kind()).isEqualTo(Kind.ALREADY_PLAYED);
        assertThat(draws.balance("again", POINTS)).isEqualTo(970);
        assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> get(draws.play(0, draw, "again", 4, key)));
    }

    @Test
    void tenPlaysAreAllOrNothingAndARefusedCostComesBack() {
        // Given a table with five plays left
        draws.deposit("ten", POINTS, 1000);
        Draw draw = draws.create("""
            mode: table
            cost: {asset: POINTS, amount: 1}
            prizes: [{name: a, count: 5}, {name: b, count: 10}]
            """);
        assertThat(get(draws.play(0, draw, "ten", 10, newKey())).plays()).hasSize(10);

        // When
        IdempotencyKey key = newKey();
        PlayOutcome refused = get(draws.play(0, draw, "ten", 10, key));

        // Then
        assertThat(refused.kind()).isEqualTo(Kind.EXHAUSTED);
        assertThat(draws.balance("ten", POINTS)).isEqualTo(990);
        assertThat(get(draws.play(0, draw, "ten", 5, key)).plays()).hasSize(5);
        assertThat(counts(draws.plays(draw))).isEqualTo(Map.of("a", 5L, "b", 10L));
        assertThat(draws.balance("ten", POINTS)).isEqualTo(985);
    }

    @Test
    void codesAreHandedOutOnce() {
        // Given
        Draw draw = draws.create("""
            mode: table
            whenExhausted: fallback
            prizes:
              - {name: coupon, count: 20, award: {codes: [%s]}}
            fallback: {name: thanks}
            """.formatted(String.join(
                ",",
                java.util.stream.IntStream.range(0, 20).mapToObj(i -> "C" + i).toList())));

        // When
        List<PlayOutcome> outcomes = playAll(draw, 50, 10);

        // Then
        List<String> codes = outcomes.stream()
                .flatMap(each -> each.plays().stream())
                .filter(play -> play.code() != null)
                .map(play -> play.code())
                .toList();
        assertThat(codes).hasSize(20);
        assertThat(new HashSet<>(codes)).hasSize(20);
        assertThat(counts(draws.plays(draw))).isEqualTo(Map.of("coupon", 20L, "thanks", 30L));
    }

    @Test
    void limitsOfAUserHoldInTotalAndADay() {
        // Given
        Draw draw = draws.create("""
            mode: weights
            limits: {total: 5, perDay: 3, zone: Asia/Shanghai}
            prizes: [{name: a, weight: 1}]
            """);

        // When
        List<Kind> kinds =
                playAll(draw, 4, 1).stream().map(PlayOutcome::kind).sorted().toList();

        // Then
        assertThat(kinds).containsExactly(Kind.PLAYED, Kind.PLAYED, Kind.PLAYED, Kind.DAILY_LIMIT_REACHED);
        DrawView view =
                get(engine.loop(0).call(services -> services.draws.view(TestEngine.member("user0"), draw.id())));
        assertThat(view.plays()).isEqualTo(3);
        assertThat(view.left()).isEqualTo(2);
        assertThat(view.leftToday()).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {mode: weights, limits: {total: 2}, prizes: [{name: a, weight: 1}], %s}                        | LIMIT_REACHED
        {mode: weights, limits: {perDay: 2, zone: UTC+14}, prizes: [{name: a, weight: 1}], %s}         | DAILY_LIMIT_REACHED
        {mode: table, prizes: [{name: a, count: 1}, {name: b, count: 1}], %s}                          | EXHAUSTED
        """)
    void whatIsSettledRefusesAPlayBeforeItsCostIsHeld(String yaml, Kind kind) {
        // Given a player who has had all plays there are
        draws.deposit("often", POINTS, 100);
        Draw draw = draws.create(yaml.formatted("cost: {asset: POINTS, amount: 10}"));
        IdempotencyKey key = newKey();
        List<Play> plays = get(draws.play(0, draw, "often", 2, key)).plays();
        String rows = "select (select count(*) from transfer where subject = '" + draw.id() + "')"
                + " + (select count(*) from play_request where draw = '" + draw.id() + "')";
        long before = books.longOf(rows);
        long balance = draws.balance("often", POINTS);

        // When
        PlayOutcome refused = get(draws.play(0, draw, "often"));

        // Then the books have nothing of it, and what was played stands
        assertThat(refused.kind()).isEqualTo(kind);
        assertThat(books.longOf(rows)).isEqualTo(before);
        PlayOutcome again = get(draws.play(1, draw, "often", 2, key));
        assertThat(again.kind()).isEqualTo(Kind.ALREADY_PLAYED);
        assertThat(again.plays()).isEqualTo(plays);
        assertThat(draws.balance("often", POINTS)).isEqualTo(balance);
    }

    @Test
    void aCostThatIsHeldIsDecidedThoughALimitIsReachedMeanwhile() {
        // Given a cost that was held before the player's only play
        draws.deposit("twice", POINTS, 100);
        Draw draw = draws.create("""
            mode: weights
            cost: {asset: POINTS, amount: 10}
            limits: {total: 1}
            prizes: [{name: a, weight: 1}]
            """);
        IdempotencyKey key = newKey();
        books.hold(draw, "twice", key, 1);
        assertThat(get(draws.play(0, draw, "twice")).kind()).isEqualTo(Kind.PLAYED);

        // When
        PlayOutcome refused = get(draws.play(0, draw, "twice", 1, key));

        // Then
        assertThat(refused.kind()).isEqualTo(Kind.LIMIT_REACHED);
        assertThat(draws.balance("twice", POINTS)).isEqualTo(90);
    }

    @Test
    void aWalletThatIsLockedHoldsUpItsOwnPlaysOnly() throws SQLException {
        // Given
        List<String> players = List.of("door0", "door1", "door2", "door3");
        players.forEach(player -> draws.deposit(player, POINTS, 10));
        Draw draw = draws.create("{mode: weights, cost: {asset: POINTS, amount: 10}, prizes: [{name: a, weight: 1}]}");
        try (Connection locked = TestDatabase.lockRows(
                servers.postgresOwnerUrl(), "account where owner = 'door3' and asset = 'POINTS'")) {

            // When
            List<Future<PlayOutcome>> played =
                    players.stream().map(player -> draws.play(0, draw, player)).toList();

            // Then
            Stream.of(0, 1, 2)
                    .forEach(i -> assertThat(get(played.get(i)).kind()).isEqualTo(Kind.PLAYED));
            assertThat(played.get(3).isComplete()).isFalse();
            locked.rollback();
            assertThat(get(played.get(3)).kind()).isEqualTo(Kind.PLAYED);
        }
    }

    @Test
    void proceedsOfMoreThanATransferMayMoveGoToTheOwnerInParts() {
        // Given ten plays twice, that cost nearly a transfer's bound together
        Asset diamonds = new Asset("DIAMONDS");
        engine.declare(diamonds);
        long paid = 90_000_000_000_000L;
        Draw draw = draws.create("""
            {mode: weights, cost: {asset: DIAMONDS, amount: 9000000000000}, prizes: [{name: a, weight: 1}]}
            """);
        for (int i = 0; i < 2; i++) {
            draws.deposit("whale", diamonds, paid);
            assertThat(get(draws.play(0, draw, "whale", 10, newKey())).kind()).isEqualTo(Kind.PLAYED);
        }

        // When
        get(engine.loop(0).call(services -> services.draws.close(SERVICE, draw.id())));

        // Then
        Eventually.eventually(
                Duration.ofSeconds(5),
                () -> assertThat(draws.balance("shop", diamonds)).isEqualTo(2 * paid));
    }

    @Test
    void aClosedDrawGivesTheOwnerTheRestAndTheProceeds() {
        // Given
        draws.deposit("last", POINTS, 100);
        long before = draws.balance("shop", CNY);
        Draw draw = draws.create(PAID);
        get(draws.play(0, draw, "last", 10, newKey()));

        // When
        get(engine.loop(0).call(services -> services.draws.close(SERVICE, draw.id())));

        // Then
        Eventually.eventually(
                Duration.ofSeconds(5),
                () -> assertThat(draws.balance("shop", CNY)).isEqualTo(before - 100));
        assertThat(draws.balance("shop", POINTS)).isGreaterThanOrEqualTo(100);
        assertThat(get(draws.play(0, draw, "last")).kind()).isEqualTo(Kind.CLOSED);
        var view = get(engine.loop(0).call(services -> services.draws.view(SERVICE, draw.id())));
        JsonObject table = Objects.requireNonNull(view.books()).finalTable();
        assertThat(table.getBoolean("checked")).isTrue();
        assertThat(table.getJsonArray("prizes").getJsonObject(0).getLong("left"))
                .isEqualTo(198);
    }
}
