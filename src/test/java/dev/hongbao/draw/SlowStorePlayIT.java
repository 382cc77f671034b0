package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UnavailableException.Reason;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Postgres neither answers nor breaks. */
@ExtendWith(Servers.class)
class SlowStorePlayIT {
    private static final Duration SOON = Duration.ofSeconds(10);

    /** Well before Postgres gives the statement up. */
    private static final Duration IN_TIME = Postgres.SHORT.dividedBy(2);

    @Test
    void aPlayIsAnsweredByItsDeadlineAndItsRepetitionIsPaidOnce(TestServers servers) throws Exception {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "500ms"))) {
            // Given
            TestDraws draws = new TestDraws(engine);
            draws.deposit("ann", POINTS, 100);
            Draw draw = draws.create(
                    "{mode: weights, cost: {asset: POINTS, amount: 7}, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
            IdempotencyKey key = newKey();

            // When
            try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "play_request")) {
                Future<PlayOutcome> play = draws.play(0, draw, "ann", 1, key);

                // Then
                eventually(
                        IN_TIME,
                        () -> assertThat(play.isComplete())
                                .as("answered while Postgres keeps silent")
                                .isTrue());
                assertThat(play.cause()).isInstanceOf(UnavailableException.class);
            }
            eventually(
                    SOON,
                    () -> assertThat(get(draws.play(0, draw, "ann", 1, key)).plays())
                            .hasSize(1));
            assertThat(draws.balance("ann", POINTS)).isEqualTo(93);
            Books books = new Books(servers);
            eventually(SOON, books::assertJournalsEmpty);
            books.assertClean();
            books.assertReconciled();
        }
    }

    @Test
    void nobodyIsToldThatNothingWasDoneWhileACostIsHeld(TestServers servers) {
        Map<String, String> options = Map.of(
                "shards", "1", "journal.max-entries", "256", "claim.batch-size", "1", "claim.settle-timeout", "20s");
        try (TestEngine engine = TestEngine.start(servers, 1, options)) {
            // Given a journal that nobody settles, and one place in it
            TestDraws draws = new TestDraws(engine);
            draws.deposit("ben", POINTS, 100);
            Draw free = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
            Draw draw =
                    draws.create("{mode: weights, cost: {asset: POINTS, amount: 7}, prizes: [{name: a, weight: 1}]}");
            get(engine.engine().stopWriter());
            List<Future<PlayOutcome>> taken = new ArrayList<>();
            IdempotencyKey key = newKey();
            for (int i = 0; i < 256; i++) {
                taken.add(draws.play(0, free, "u" + i, 1, key));
            }
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                String journal = new Books(servers).stamps().get(0) + ":journal";
                eventually(SOON, () -> assertThat(redis.xlen(journal)).isEqualTo(256));
            }

            // When
            Future<PlayOutcome> late = draws.play(0, free, "late", 1, key);
            Future<PlayOutcome> paid = draws.play(0, draw, "ben", 1, key);

            // Then
            assertThatThrownBy(() -> get(late))
                    .isInstanceOfSatisfying(
                            UnavailableException.class,
                            refused -> assertThat(refused.reason()).isEqualTo(Reason.OVERLOADED));
            assertThatThrownBy(() -> get(paid))
                    .isInstanceOfSatisfying(
                            UnavailableException.class,
                            refused -> assertThat(refused.reason()).isEqualTo(Reason.UNKNOWN));
            assertThat(draws.balance("ben", POINTS)).isEqualTo(93);

            // When
            get(engine.engine().startWriter());
            assertThat(get(Future.all(taken)).size()).isEqualTo(256);
            assertThat(get(draws.play(0, draw, "ben", 1, key)).plays()).hasSize(1);

            // Then
            assertThat(draws.balance("ben", POINTS)).isEqualTo(93);
            assertThat(get(draws.play(0, free, "late", 1, key)).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        }
    }
}
