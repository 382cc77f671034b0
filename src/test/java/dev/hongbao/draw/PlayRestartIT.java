package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Play.PlayOutcome;
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
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server ends between decided and settled: what was decided and paid is settled by the next owner, once. */
@ExtendWith(Servers.class)
class PlayRestartIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private static Future<PlayOutcome> play(TestDraws draws, Draw draw, int user) {
        return draws.play(user, draw, "user" + user, 10, new IdempotencyKey("key" + user));
    }

    @Test
    void whatWasDecidedIsSettledByTheNextOwnerAndPaidOnce(TestServers servers) throws Exception {
        Books books = new Books(servers);
        Draw draw;
        try (Connection blocker = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = blocker.createStatement()) {
            // Given a server that cannot settle, and is gone before it can
            TestEngine before = TestEngine.start(servers, 2, Map.of("shards", "2"));
            TestDraws draws = new TestDraws(before);
            for (int user = 0; user < 20; user++) {
                draws.deposit("user" + user, POINTS, 100);
            }
            draw = draws.create("""
                    mode: table
                    cost: {asset: POINTS, amount: 3}
                    prizes: [{name: a, count: 20}, {name: b, count: 180}]
                    """);
            blocker.setAutoCommit(false);
            statement.execute("select 1 from shard for update");
            List<Future<PlayOutcome>> unknown = new ArrayList<>();
            for (int user = 0; user < 20; user++) {
                unknown.add(play(draws, draw, user));
            }
            for (Future<PlayOutcome> each : unknown) {
                assertThatThrownBy(() -> get(each)).isInstanceOf(UnavailableException.class);
            }
            CompletableFuture<Void> gone = CompletableFuture.runAsync(before::close);
            eventually(Duration.ofSeconds(9), () -> {
                books.breakConnections(false);
                assertThat(gone).isDone();
            });
            blocker.rollback();
        }
        assertThat(books.longOf("select count(*) from play")).isZero();

        // When
        try (TestEngine after = TestEngine.start(servers, 2, Map.of())) {
            TestDraws draws = new TestDraws(after);
            eventually(SOON, books::assertJournalsEmpty);
            List<Play> settled = draws.plays(draw);

            // Then the whole table was played, and the same keys give what was settled
            assertThat(TestDraws.counts(settled)).isEqualTo(Map.of("a", 20L, "b", 180L));
            for (int user = 0; user < 20; user++) {
                PlayOutcome again = get(play(draws, draw, user));
                assertThat(settled).containsAll(again.plays());
                assertThat(draws.balance("user" + user, POINTS)).isEqualTo(70);
            }
            books.assertClean();
        }
    }
}
