package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.CNY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.PlayCrowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

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

    @Test
    void redisIsKilledAndComesBack() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.redis().kill();

        // Then
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.sumOfEpochs()).as("epochs").isGreaterThan(epochs));
    }

    @Test
    void postgresIsKilledAndComesBack() {
        servers.postgres().kill();
        crowd.awaitSettled(100);
    }
}
