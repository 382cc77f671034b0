package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

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
import io.vertx.core.Future;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

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
}
