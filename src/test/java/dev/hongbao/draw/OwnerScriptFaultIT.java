package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * A script that a shard's owner calls fails, maybe between two of its writes, and nobody plays meanwhile whose call would fail
 * too: the shard is recovered all the same.
 */
@ExtendWith(Servers.class)
class OwnerScriptFaultIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    private TestServers servers;
    private TestEngine engine;
    private TestDraws draws;
    private Books books;

    @BeforeEach
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        draws = new TestDraws(engine);
        books = new Books(servers);
    }

    @AfterEach
    void stop() {
        eventually(SOON, books::assertJournalsEmpty);
        books.assertClean();
        books.assertReconciled();
        engine.close();
    }

    /** Makes a key of the shard something that its scripts cannot work with. */
    private void spoil(String key) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.set(books.stamps().get(0) + ":" + key, "neither a hash nor a sorted set");
        }
    }

    private void awaitRecovery(long epochsBefore) {
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).as("epochs").isGreaterThan(epochsBefore));
    }

    @Test
    void aCostIsReturnedThoughTheScriptThatReturnsItFailed() {
        // Given
        draws.deposit("victim", POINTS, 100);
        Draw draw = draws.create(
                "{mode: weights, cost: {asset: POINTS, amount: 1}, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
        long epochs = books.sumOfEpochs();
        spoil("attempts");

        // When
        books.hold(draw, "victim", newKey(), 10);
        books.execute("update play_request set held_at = held_at - interval '1 hour'");

        // Then
        awaitRecovery(epochs);
        eventually(
                SOON,
                () -> assertThat(draws.balance("victim", POINTS)).as("balance").isEqualTo(100));
    }

    @Test
    void periodsAreLoadedThoughTheScriptThatLoadsThemFailed() {
        // Given
        Draw draw = draws.create("""
                mode: schedule
                schedule: {periodSeconds: 2, carryOver: true}
                prizes: [{name: gift, quota: 2, stock: 100}]
                fallback: {name: thanks}
                """);
        long epochs = books.sumOfEpochs();

        // When
        spoil("m:" + draw.id());

        // Then
        awaitRecovery(epochs);
        long period = books.longOf("select max(n) from period where draw = '" + draw.id() + "'");
        eventually(
                SOON,
                () -> assertThat(Long.parseLong(books.hashField(0, "d:" + draw.id(), "~")))
                        .as("last period loaded")
                        .isGreaterThan(period));
    }
}
