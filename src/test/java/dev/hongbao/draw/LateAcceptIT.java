package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.engine.Loop;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** A server that froze between the hold and the script: what it does when it goes on meets what the owner has done meanwhile. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LateAcceptIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    private TestServers servers;
    private TestEngine engine;
    private TestDraws draws;
    private Books books;
    private ShardScript script;
    private String user;
    private Draw draw;
    private IdempotencyKey key;
    private PlayRequest request;
    private double voids;
    private int tests;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        script = new ShardScript(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        draws = new TestDraws(engine);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @BeforeEach
    void somebodyWantsToPlayATable() {
        user = "vera" + ++tests;
        draws.deposit(user, POINTS, 100);
        draw = draws.create("""
                {mode: table, cost: {asset: POINTS, amount: 5}, limits: {total: 100},
                 prizes: [{name: a, count: 3}, {name: b, count: 7}]}
                """);
        key = new IdempotencyKey("late");
        request = PlayRequest.of(draw.id(), new UserId(user), key, 10);
        voids = voids();
    }

    private double voids() {
        return engine.metrics().get("hongbao.journal.voids").counter().count();
    }

    /** Holds the cost as a server does before it asks the script. */
    private UUID hold() {
        UUID attempt = books.hold(draw, user, key, 10);
        assertThat(draws.balance(user, POINTS)).isEqualTo(50);
        return attempt;
    }

    private void letItGrowOld() {
        books.execute(
                "update play_request set held_at = held_at - interval '1 hour' where id = '" + request.id() + "'");
    }

    /** An owner that has just come gives back what is held for long. */
    private void awaitReturn() {
        letItGrowOld();
        HoldExpiry owner = new HoldExpiry(
                engine.engine().pool(),
                engine.shards(1, "return"),
                Loop.of(engine.vertx()),
                Clock.systemUTC(),
                Duration.ofMinutes(1));
        get(engine.loop(0).call(services -> owner.run(List.of(0), services.redis)));
        eventually(SOON, () -> assertThat(draws.balance(user, POINTS)).isEqualTo(100));
    }

    private void forget(UUID attempt) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.zrem(books.stamps().get(0) + ":attempts", attempt.toString());
        }
    }

    /** Calls the script with an attempt that Redis has forgotten, if it ever knew it. */
    private void play(UUID attempt) {
        forget(attempt);
        assertThat(script.play(draw.id(), request.id(), attempt, user, 10, true))
                .isEqualTo("+");
    }

    /** Until the call was found void, and Redis is written anew from what is settled. */
    private void awaitVoid(long epochsBefore) {
        eventually(SOON, () -> assertThat(voids()).isEqualTo(voids + 1));
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochsBefore));
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(draws.plays(draw)).isEmpty();
        books.assertReconciled();
    }

    private List<String> status() {
        return books.strings("select status from play_request where id = '" + request.id() + "'");
    }

    private void assertTheKeyPlaysTheWholeTable() {
        PlayOutcome now = get(draws.play(0, draw, user, 10, key));
        assertThat(TestDraws.counts(now.plays())).isEqualTo(Map.of("a", 3L, "b", 7L));
        assertThat(draws.balance(user, POINTS)).isEqualTo(50);
    }

    @Test
    void anAcceptAfterTheHoldWasReturnedIsVoidAndChangesNothing() {
        // Given
        UUID attempt = hold();
        awaitReturn();
        long epochs = books.sumOfEpochs();

        // When
        play(attempt);

        // Then
        awaitVoid(epochs);
        assertThat(draws.balance(user, POINTS)).isEqualTo(100);
        assertThat(status()).containsExactly("returned");
        assertTheKeyPlaysTheWholeTable();
    }

    @Test
    void anAcceptOfAnEarlierTryDoesNotDecideTheLaterOne() {
        // Given a try that was given back, and another one of the same request
        UUID earlier = hold();
        awaitReturn();
        hold();
        long epochs = books.sumOfEpochs();

        // When
        play(earlier);

        // Then the later try is still to be decided, by its own attempt
        awaitVoid(epochs);
        assertThat(status()).containsExactly("held");
        assertTheKeyPlaysTheWholeTable();
    }

    @Test
    void whatIsAcceptedAndNotSettledYetIsNotGivenBack() {
        // Given a play that is accepted, and nobody who settles
        UUID attempt = hold();
        get(engine.engine().stopWriter());
        play(attempt);

        // When an owner gives back what Postgres says is held for long
        String returned = script.giveBack(draw.id(), request.id(), attempt, user);

        // Then
        assertThat(returned).isEqualTo("0");
        get(engine.engine().startWriter());
        eventually(SOON, () -> assertThat(status()).as("its cost is spent").isEmpty());
        eventually(SOON, books::assertJournalsEmpty);
        assertThat(draws.plays(draw)).hasSize(10);
        assertThat(draws.balance(user, POINTS)).isEqualTo(50);
        assertThat(voids()).isEqualTo(voids);
        books.assertClean();
    }

    @Test
    void aCostThatWasReturnedIsNotReturnedAgain() {
        // Given
        UUID attempt = hold();
        awaitReturn();
        long epochs = books.sumOfEpochs();

        // When an owner whose Redis has forgotten it gives it back once more
        forget(attempt);
        assertThat(script.giveBack(draw.id(), request.id(), attempt, user)).isEqualTo("1");

        // Then
        awaitVoid(epochs);
        assertThat(draws.balance(user, POINTS)).isEqualTo(100);
        assertThat(status()).containsExactly("returned");
    }

    @Test
    void aCloseReturnsNothingTwice() {
        // Given a cost that was returned, and one that was paid
        hold();
        awaitReturn();
        String payer = user + "-pays";
        draws.deposit(payer, POINTS, 100);
        assertThat(get(draws.play(0, draw, payer, 10, new IdempotencyKey("pays")))
                        .plays())
                .hasSize(10);

        // When
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, draw.id())));

        // Then
        eventually(
                SOON,
                () -> assertThat(books.longOf(
                                "select count(*) from draw where closed_at is not null and id = '" + draw.id() + "'"))
                        .isEqualTo(1));
        assertThat(draws.balance(user, POINTS)).isEqualTo(100);
        assertThat(draws.balance(payer, POINTS)).isEqualTo(50);
        books.assertReconciled();
    }

    /** Maybe between two of its writes, and nobody plays meanwhile whose call would fail too. */
    @Test
    void aCostIsReturnedThoughTheScriptThatReturnsItFailed() {
        // Given a set of attempts that no script can work with
        hold();
        long epochs = books.sumOfEpochs();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.set(books.stamps().get(0) + ":attempts", "no sorted set");
        }

        // When
        letItGrowOld();

        // Then
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epochs));
        eventually(SOON, () -> assertThat(draws.balance(user, POINTS)).isEqualTo(100));
        eventually(SOON, books::assertJournalsEmpty);
        books.assertReconciled();
    }

    /** A server may try an attempt again that another one has decided: its answer was lost. */
    @Test
    void anAttemptThatWasJustDecidedIsNotForgotten() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given plays that are settled
            String attempts = books.stamps().get(0) + ":attempts";
            long before = redis.zcard(attempts);
            for (int i = 0; i < 5; i++) {
                assertThat(get(draws.play(0, draw, user)).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
            }
            List<String> decided = redis.zrange(attempts, 0, -1);
            assertThat(decided).hasSize((int) before + 5);

            // When an owner takes the shard, and looks twice for costs that nobody decided
            get(engine.engine().stopWriter());
            get(engine.engine().startWriter());
            for (int i = 0; i < 2; i++) {
                books.hold(draw, user, newKey(), 1);
                books.execute(
                        "update play_request set held_at = held_at - interval '10 seconds' where status = 'held'");
                eventually(
                        SOON,
                        () -> assertThat(books.longOf("select count(*) from play_request where status = 'held'"))
                                .isZero());
            }

            // Then
            assertThat(books.stamps().get(0) + ":attempts").isEqualTo(attempts);
            assertThat(redis.zrange(attempts, 0, -1)).containsAll(decided);
        }
        books.assertClean();
    }
}
