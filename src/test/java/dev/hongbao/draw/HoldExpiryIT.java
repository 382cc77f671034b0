package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** What the shard's owner remembers of attempts that were decided. */
@ExtendWith(Servers.class)
class HoldExpiryIT {
    private static final Duration IN_TIME = Duration.ofSeconds(20);

    /** A server may try an attempt again that another one has decided: its answer was lost. */
    @Test
    void anAttemptThatWasJustDecidedIsNotForgotten(TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given plays that are settled
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 100);
            Draw draw =
                    draws.create("{mode: weights, cost: {asset: POINTS, amount: 1}, prizes: [{name: a, weight: 1}]}");
            for (int i = 0; i < 5; i++) {
                assertThat(get(draws.play(0, draw, "vera")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
            }
            String attempts = books.stamps().get(0) + ":attempts";
            List<String> decided = redis.zrange(attempts, 0, -1);
            assertThat(decided).as("five, and a mark").hasSize(6);

            // When an owner takes the shard, and looks twice for costs that nobody decided
            get(engine.engine().stopWriter());
            get(engine.engine().startWriter());
            for (int i = 0; i < 2; i++) {
                books.execute("select hold_plays(array[gen_random_uuid()], array['" + draw.id() + "']::uuid[],"
                        + " array['vera'], array[1]::smallint[], array[gen_random_uuid()])");
                books.execute(
                        "update play_request set held_at = held_at - interval '10 seconds' where status = 'held'");
                eventually(
                        IN_TIME,
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
