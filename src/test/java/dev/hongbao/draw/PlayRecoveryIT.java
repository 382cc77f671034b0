package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.PlayCrowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * Real servers break while a crowd plays. Each test ends with the same proof: the settled plays are exactly the answered ones,
 * every cost was paid once, rounds are exact, and the books are clean.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PlayRecoveryIT {
    private static final long MONEY = 1_000_000;

    private TestServers servers;
    private TestEngine engine;
    private TestDraws draws;
    private Books books;
    private Draw draw;
    private PlayCrowd crowd;
    private long before;

    @BeforeAll
    void start(@Killable TestServers killable) {
        servers = killable;
        engine = TestEngine.start(servers, 3, Map.of("shards", "4"));
        draws = new TestDraws(engine);
        books = new Books(servers);
        draws.deposit("shop", CNY, 1_000_000_000);
        for (int i = 0; i < PlayCrowd.size(); i++) {
            draws.deposit(PlayCrowd.user(i), POINTS, MONEY);
        }
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @BeforeEach
    void aCrowdIsPlaying() {
        before = points();
        draw = draws.create("""
            mode: table
            whenExhausted: repeat
            cost: {asset: POINTS, amount: 1}
            limits: {total: 100000}
            guarantees: [{category: rare, plays: 40}]
            prizes:
              - {name: gold, category: rare, count: 1, stock: 10000, award: {asset: CNY, amount: 7}}
              - {name: silver, count: 5, stock: 50000, award: {asset: CNY, amount: 2}}
              - {name: nothing, count: 44}
            """);
        crowd = new PlayCrowd(engine, draws, draw).start();
        crowd.awaitSettled(100);
    }

    @AfterEach
    void allIsWellAgain() {
        crowd.awaitSettled(100);
        crowd.stop();
        crowd.assertAnswersKept();
        int plays = draws.plays(draw).size();
        assertThat(before - points()).as("paid").isEqualTo(plays);
        Map<String, Long> counts = TestDraws.counts(draws.plays(draw));
        long rounds = plays / 50;
        assertThat(counts.getOrDefault("gold", 0L)).isBetween(rounds, rounds + 1);
        assertThat(counts.getOrDefault("silver", 0L)).isBetween(rounds * 5, rounds * 5 + 5);
        eventually(Duration.ofSeconds(5), books::assertJournalsEmpty);
        books.assertClean();
        books.assertReconciled();
    }

    private long points() {
        long points = 0;
        for (int i = 0; i < PlayCrowd.size(); i++) {
            points += draws.balance(PlayCrowd.user(i), POINTS);
        }
        return points;
    }

    private void assertNewGenerations(long epochsBefore) {
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.sumOfEpochs()).as("epochs").isGreaterThan(epochsBefore));
    }

    @Test
    void redisIsKilledAndComesBack() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.redis().kill();

        // Then
        assertNewGenerations(epochs);
    }

    @Test
    void everyShardGetsANewGenerationAfterAFlush() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
        }

        // Then
        assertNewGenerations(epochs);
    }

    @Test
    void theDrawsHashIsDeleted() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.del(redis.keys("*:d:" + draw.id()).iterator().next());
        }

        // Then
        assertNewGenerations(epochs);
    }

    @Test
    void postgresIsKilledAndComesBack() {
        servers.postgres().kill();
        crowd.awaitSettled(100);
    }

    @Test
    void costsHeldByAServerThatDiedAreReturnedOnce() throws Exception {
        // Given requests that were held but never reached the script
        draws.deposit("victim", POINTS, 100);
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            statement.execute("select hold_plays(array[gen_random_uuid()], array['" + draw.id() + "']::uuid[],"
                    + " array['victim'], array[10]::smallint[], array[gen_random_uuid()])");
            statement.execute("select hold_plays(array[gen_random_uuid()], array['" + draw.id() + "']::uuid[],"
                    + " array['victim'], array[5]::smallint[], array[gen_random_uuid()])");
        }
        assertThat(draws.balance("victim", POINTS)).isEqualTo(85);

        // When
        eventually(
                Duration.ofSeconds(25),
                () -> assertThat(draws.balance("victim", POINTS)).isEqualTo(100));

        // Then they stay returned, and the victim can play
        crowd.awaitSettled(200);
        assertThat(draws.balance("victim", POINTS)).isEqualTo(100);
    }

    @Test
    void aTurnThatWasDecidedJustBeforeTheEndOfAGenerationIsNotPlayedAgain() {
        // Given
        draws.deposit("repeater", POINTS, 100);
        var key = newKey();
        Draw other = draws.create(
                "{mode: weights, cost: {asset: POINTS, amount: 1}, prizes: [{name: a, weight: 1}, {name: b, weight:"
                        + " 1}]}");
        var first = get(draws.play(0, other, "repeater", 10, key));

        // When
        long epochs = books.sumOfEpochs();
        servers.replaceRedisByAnEmptyOne();
        assertNewGenerations(epochs);

        // Then
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(get(draws.play(1, other, "repeater", 10, key)).plays())
                        .isEqualTo(first.plays()));
        assertThat(draws.balance("repeater", POINTS)).isEqualTo(90);
    }
}
