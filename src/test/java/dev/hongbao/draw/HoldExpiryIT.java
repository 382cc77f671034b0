package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Costs that nobody decides, and what the shard's owner remembers of attempts that were decided. */
@ExtendWith(Servers.class)
class HoldExpiryIT {
    private static final Duration IN_TIME = Duration.ofSeconds(20);
    private static final String HELD = "select draw from play_request where status = 'held'";

    @Test
    void aShardThatCannotSettleDoesNotHoldUpTheCostsOfOthers(TestServers servers) throws SQLException {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            // Given a shard whose cursor somebody holds, and more old costs there than its owner returns at once
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 1_000);
            Draw stuck = paid(draws);
            Draw other = paid(draws);
            while (other.shard() == stuck.shard()) {
                other = paid(draws);
            }
            try (Connection holder =
                    TestDatabase.lockRows(servers.postgresOwnerUrl(), "shard where id = " + stuck.shard())) {
                holdFor(books, stuck, 300, 2);

                // When
                holdFor(books, other, 1, 1);

                // Then
                eventually(
                        IN_TIME,
                        () -> assertThat(books.strings(HELD))
                                .containsOnly(stuck.id().toString()));
                holder.rollback();
            }
            eventually(IN_TIME, () -> assertThat(books.strings(HELD)).isEmpty());
        }
        books.assertClean();
    }

    private static Draw paid(TestDraws draws) {
        return draws.create("{mode: weights, cost: {asset: POINTS, amount: 1}, prizes: [{name: a, weight: 1}]}");
    }

    /** Holds the costs of plays that nobody decides. */
    private static void holdFor(Books books, Draw draw, int plays, int hours) {
        books.execute("select hold_plays(array[gen_random_uuid()], array['" + draw.id() + "']::uuid[],"
                + " array['vera'], array[1]::smallint[], array[gen_random_uuid()]) from generate_series(1, " + plays
                + ")");
        books.execute("update play_request set held_at = held_at - interval '" + hours
                + " hours' where status = 'held' and draw = '" + draw.id() + "'");
    }

    /** A server may try an attempt again that another one has decided: its answer was lost. */
    @Test
    void anAttemptThatWasJustDecidedIsNotForgotten(TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of());
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given plays that are settled
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 100);
            Draw draw = paid(draws);
            for (int i = 0; i < 5; i++) {
                assertThat(get(draws.play(0, draw, "vera")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
            }
            String attempts = books.stamps().get(draw.shard()) + ":attempts";
            List<String> decided = redis.zrange(attempts, 0, -1);
            assertThat(decided).as("five, and a mark").hasSize(6);

            // When an owner takes the shard, and looks twice for costs that nobody decided
            get(engine.engine().stopWriter());
            get(engine.engine().startWriter());
            for (int i = 0; i < 2; i++) {
                holdFor(books, draw, 1, 1);
                eventually(IN_TIME, () -> assertThat(books.strings(HELD)).isEmpty());
            }

            // Then
            assertThat(books.stamps().get(draw.shard()) + ":attempts").isEqualTo(attempts);
            assertThat(redis.zrange(attempts, 0, -1)).containsAll(decided);
        }
        books.assertClean();
    }
}
