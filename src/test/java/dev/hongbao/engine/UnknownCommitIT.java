package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres does what it is told, but its answer is lost: nobody knows whether it was committed. */
@ExtendWith(Servers.class)
class UnknownCommitIT {
    /** A claim may wait long, so that a slow machine does not look like a lost claim. */
    private static final Map<String, String> OPTIONS = Map.of("shards", "4", "claim.settle-timeout", "10s");

    @Test
    void aCommitWhoseAnswerIsLostCountsOnce(TestServers servers) throws Exception {
        try (LossyProxy proxy = PostgresLine.of(servers)) {
            // Given
            Books books = new Books(servers);
            try (TestEngine engine = TestEngine.start(PostgresLine.stores(proxy, servers), 3, OPTIONS)) {
                engine.deposit("alice", 1_000_000_000);
                Crowd crowd = new Crowd(engine).start("alice");

                // When
                for (int i = 0; i < 15; i++) {
                    crowd.awaitSettled(50);
                    proxy.loseAnswers();
                }
                crowd.awaitSettled(50);
                crowd.stop();

                // Then
                assertThat(proxy.lost()).isGreaterThan(15);
                assertThat(crowd.unknownAnswers())
                        .as("those who wait look into Postgres themselves")
                        .isLessThan(crowd.settledAnswers() / 4);
                eventually(Duration.ofSeconds(5), () -> {
                    books.assertNothingDue();
                    books.assertJournalsEmpty();
                });
                crowd.assertAnswersKept(servers);
                books.assertClean();
                assertThat(engine.metrics()
                                .get("hongbao.journal.voids")
                                .counter()
                                .count())
                        .as("a settlement that was tried again after it had committed")
                        .isZero();
            }
        }
    }
}
