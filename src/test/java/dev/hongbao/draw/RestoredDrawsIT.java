package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestDraws.SERVICE;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.Play.PlayOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Postgres goes back in time and Redis does not, while people play (invariants I10 and I13). */
class RestoredDrawsIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final int MONEY = 10;
    private static final int COST = 3;
    private static final int PLAYERS = 5;
    private static final int PRIZE = 7;
    private static final String TABLE = """
            mode: table
            cost: {asset: POINTS, amount: 3}
            limits: {total: 1}
            prizes:
              - {name: gold, count: 1, award: {asset: CNY, amount: 7}}
              - {name: nothing, count: 4}
            """;

    private static final String FREE = "{mode: weights, prizes: [{name: a, weight: 1}]}";

    private TestServers servers;
    private Books books;

    @BeforeEach
    void start() {
        servers = Servers.fresh();
        books = new Books(servers);
    }

    @AfterEach
    void stop() {
        servers.close();
    }

    private TestEngine engine(String settleTimeout) {
        return TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", settleTimeout));
    }

    private TestEngine engine() {
        return engine("2s");
    }

    private static Future<PlayOutcome> play(TestEngine engine, Draw draw, String user) {
        return new TestDraws(engine).play(0, draw, user, 1, new IdempotencyKey(user));
    }

    private static Kind kind(TestEngine engine, Draw draw, String user) {
        return get(play(engine, draw, user)).kind();
    }

    private static void assertPlays(TestEngine engine, Draw draw, String user) {
        eventually(SOON, () -> assertThat(kind(engine, draw, user)).isIn(Kind.PLAYED, Kind.ALREADY_PLAYED));
    }

    /** Makes a draw of five plays, one of them played; what follows is not in the backup. */
    private Draw played(TestEngine engine) {
        TestDraws draws = new TestDraws(engine);
        draws.deposit("shop", CNY, 100);
        IntStream.rangeClosed(1, PLAYERS + 1).forEach(n -> draws.deposit("u" + n, POINTS, MONEY));
        Draw draw = draws.create(TABLE);
        assertThat(kind(engine, draw, "u1")).isEqualTo(Kind.PLAYED);
        return draw;
    }

    /** Makes a draw, and a backup when its server is gone. */
    private Draw backedUp(Function<TestEngine, Draw> make) {
        Draw draw;
        try (TestEngine before = engine()) {
            draw = make.apply(before);
        }
        servers.backUpPostgres();
        return draw;
    }

    private List<String> numbers(Draw draw) {
        return books.strings("select seq from play where draw = '" + draw.id() + "' order by seq");
    }

    /** The whole table was played, by five who each paid once, and the draw ends with nothing left. */
    private void assertPlayedByFive(TestEngine engine, Draw draw) {
        TestDraws draws = new TestDraws(engine);
        assertThat(kind(engine, draw, "u6")).isEqualTo(Kind.EXHAUSTED);
        assertThat(numbers(draw)).containsExactly("0", "1", "2", "3", "4");
        assertThat(TestDraws.counts(draws.plays(draw))).isEqualTo(Map.of("gold", 1L, "nothing", 4L));
        IntStream.rangeClosed(1, PLAYERS)
                .forEach(n -> assertThat(draws.balance("u" + n, POINTS)).isEqualTo(MONEY - COST));
        assertThat(draws.balance("u6", POINTS)).isEqualTo(MONEY);
        eventually(SOON, books::assertJournalsEmpty);
        eventually(SOON, books::assertReconciled); // a server that heard late may have a shard recovered once more
        get(engine.loop(0).call(services -> services.draws.close(SERVICE, draw.id())));
        eventually(SOON, () -> assertThat(draws.balance("shop", POINTS)).isEqualTo((long) PLAYERS * COST));
        assertThat(draws.balance("shop", CNY)).isEqualTo(100 - PRIZE);
        books.assertClean();
    }

    @Test
    void aDecidedPlayBeyondTheGapIsVoidAndItsPlayerPlaysAgain() {
        // Given a request that is held when the backup is made
        Draw draw;
        try (TestEngine before = engine()) {
            draw = played(before);
        }
        books.hold(draw, "u4", new IdempotencyKey("u4"), 1);
        servers.backUpPostgres();

        // Given plays that are settled after it, and behind them that request's, which is only decided
        try (TestEngine engine = engine("1s")) {
            assertThat(kind(engine, draw, "u2")).isEqualTo(Kind.PLAYED);
            assertThat(kind(engine, draw, "u3")).isEqualTo(Kind.PLAYED);
            eventually(SOON, books::assertJournalsEmpty);
            get(engine.engine().stopWriter());
            assertThatThrownBy(() -> kind(engine, draw, "u4")).isInstanceOf(UnavailableException.class);
        }

        // When
        servers.restorePostgres();

        // Then
        try (TestEngine engine = engine()) {
            assertThat(numbers(draw)).containsExactly("0");
            for (String user : List.of("u5", "u4", "u3", "u2")) {
                assertPlays(engine, draw, user);
            }
            assertPlayedByFive(engine, draw);
        }
    }

    @Test
    void aDecidedPlayOfAPeriodWhosePlanIsLostIsVoid() {
        // Given a scheduled draw that is not planned when the backup is made
        Draw draw;
        try (TestEngine before = engine()) {
            get(before.engine().stopWriter());
            draw = new TestDraws(before).create("""
                    mode: schedule
                    closesAt: "%s"
                    schedule: {periodSeconds: 3600}
                    prizes: [{name: a, quota: 1, stock: 10}]
                    fallback: {name: b}
                    """.formatted(Instant.now().plus(Duration.ofHours(3))));
        }
        servers.backUpPostgres();

        // Given a play after the plan, which is only decided
        try (TestEngine engine = engine("1s")) {
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                eventually(
                        SOON,
                        () -> assertThat(redis.keys("*:d:" + draw.id()))
                                .anyMatch(key -> "0".equals(redis.hget(key, "~"))));
            }
            get(engine.engine().stopWriter());
            assertThatThrownBy(() -> kind(engine, draw, "late")).isInstanceOf(UnavailableException.class);
        }

        // When
        servers.restorePostgres();

        // Then a replay finds each play behind the plan that it names
        try (TestEngine engine = engine()) {
            eventually(SOON, books::assertJournalsEmpty);
            assertThat(books.longOf("select count(*) from play")).isZero();
        }
    }

    @Test
    void whoWaitsMeanwhilePaysAndPlaysInTheNextGeneration() {
        // Given
        Draw draw = backedUp(this::played);
        try (TestEngine engine = engine("20s")) {
            // Given a play that is paid and decided, and waits
            get(engine.engine().stopWriter());
            Future<PlayOutcome> waiting = play(engine, draw, "u2");
            eventually(SOON, () -> assertThat(unsettled("play")).isEqualTo(1));
            long epoch = books.sumOfEpochs();

            // When
            servers.restorePostgres();
            get(engine.engine().startWriter());

            // Then
            assertThat(get(waiting).kind()).isEqualTo(Kind.PLAYED);
            assertThat(books.sumOfEpochs())
                    .as("recovered for the lost cost, once")
                    .isEqualTo(epoch + 1);
            IntStream.rangeClosed(3, PLAYERS).forEach(n -> assertPlays(engine, draw, "u" + n));
            assertPlayedByFive(engine, draw);
        }
    }

    private long unsettled(String verb) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.xrange(books.journalKeys().get(0), "-", "+").stream()
                    .filter(entry -> entry.getFields().containsKey(verb))
                    .count();
        }
    }

    @Test
    void aDrawIsOpenAgainWhoseEarlyEndWasLostBeforeItWasSettled() throws Exception {
        // Given a draw that is ended early after the backup, and a settlement that hangs
        Draw draw = backedUp(engine -> new TestDraws(engine).create(FREE));
        try (TestEngine engine = engine()) {
            try (Connection hanging = TestDatabase.lockRows(servers.postgresOwnerUrl(), "shard")) {
                get(engine.loop(0).call(services -> services.draws.close(SERVICE, draw.id())));
                eventually(SOON, () -> assertThat(unsettled("end")).isEqualTo(1));

                // When
                servers.restorePostgres();
            }

            // Then
            assertPlays(engine, draw, "u1");
            eventually(SOON, books::assertReconciled);
        }
    }

    @Test
    void everyServerAtWorkForgetsTheDrawsThatItRemembers() {
        // Given two servers, and after the backup a draw that is played to its end, one that is closed, and one that is
        // made
        Draw draw;
        Draw ended;
        PlayOutcome first;
        try (TestEngine before = engine()) {
            draw = played(before);
            first = get(play(before, draw, "u1"));
            ended = new TestDraws(before).create(FREE);
        }
        servers.backUpPostgres();
        try (TestEngine owner = engine();
                TestEngine other = engine()) {
            List<TestEngine> engines = List.of(owner, other);
            IntStream.rangeClosed(2, PLAYERS).forEach(n -> assertPlays(engines.get(n % 2), draw, "u" + n));
            Draw lost = new TestDraws(owner).create(FREE);
            get(owner.loop(0).call(services -> services.draws.close(SERVICE, ended.id())));
            for (TestEngine engine : engines) {
                assertThat(kind(engine, draw, "u6")).isEqualTo(Kind.EXHAUSTED);
                assertPlays(engine, lost, "u1");
                eventually(SOON, () -> assertThat(kind(engine, ended, "u1")).isEqualTo(Kind.CLOSED));
            }

            // When
            servers.restorePostgres();

            // Then
            for (TestEngine engine : engines) {
                eventually(SOON, () -> assertThat(kind(engine, lost, "u1")).isEqualTo(Kind.NOT_FOUND));
                assertPlays(engine, ended, "u1");
            }
            IntStream.rangeClosed(2, PLAYERS).forEach(n -> assertPlays(engines.get((n + 1) % 2), draw, "u" + n));
            assertThat(get(play(other, draw, "u1")).plays()).isEqualTo(first.plays());
            assertPlayedByFive(owner, draw);
        }
    }

    @Test
    void aDrawThatWasClosedAfterTheBackupIsOpenAgainAndKeepsItsKey() {
        // Given a draw that was closed after the backup, and its key is still to be removed: that is done once a second
        Draw draw = backedUp(engine -> new TestDraws(engine).create(FREE));
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1", "journal.poll-interval", "1s"))) {
            get(engine.loop(0).call(services -> services.draws.close(SERVICE, draw.id())));
            eventually(
                    SOON,
                    () -> assertThat(books.longOf("select count(*) from draw where closed_at is not null"))
                            .isEqualTo(1));

            // When
            servers.restorePostgres();
            assertPlays(engine, draw, "u1");

            // Then, as soon as the key of a draw that is closed later was removed
            TestDraws draws = new TestDraws(engine);
            Draw later = draws.create(FREE);
            get(engine.loop(0).call(services -> services.draws.close(SERVICE, later.id())));
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                eventually(
                        SOON, () -> assertThat(redis.keys("*:d:" + later.id())).isEmpty());
            }
            books.assertReconciled();
        }
    }
}
