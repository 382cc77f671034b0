package dev.hongbao.draw;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Whose costs the shard's owner returns, and when. */
class HoldExpiryIT {
    private static final Duration IN_TIME = Duration.ofSeconds(20);
    private static final String HELD = "select count(*) from play_request where status = 'held' and draw = '%s'";

    private static void hold(Books books, Draw draw, int requests, String age) {
        books.execute("select hold_plays(array_agg(gen_random_uuid()), array_agg('" + draw.id() + "'::uuid),"
                + " array_agg('vera'::text), array_agg(1::smallint), array_agg(gen_random_uuid()))"
                + " from generate_series(1, " + requests + ")");
        books.execute("update play_request set held_at = now() - interval '" + age + "' where status = 'held'"
                + " and draw = '" + draw.id() + "'");
    }

    private static Draw draw(TestDraws draws) {
        return draws.create("{mode: weights, cost: {asset: POINTS, amount: 1}, prizes: [{name: a, weight: 1}]}");
    }

    @Test
    void aShardThatDoesNotSettleKeepsNoCostOfAnother() {
        try (TestServers servers = Servers.fresh();
                TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "2"));
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            Books books = new Books(servers);

            // Given a draw of each shard
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 1_000);
            Draw stuck = draw(draws);
            Draw other = Stream.generate(() -> draw(draws))
                    .filter(draw -> draw.shard() != stuck.shard())
                    .findFirst()
                    .orElseThrow();

            // Given many old costs of one whose decisions are not settled
            get(engine.engine().stopWriter());
            hold(books, stuck, 300, "2 hours");
            String attempts = books.stamps().get(stuck.shard()) + ":attempts";
            List<String> decided = books.strings("select attempt from play_request where draw = '" + stuck.id() + "'");
            decided.forEach(attempt -> redis.zadd(attempts, 1e9, attempt));

            // When a cost of the other is held for less long
            hold(books, other, 1, "1 hour");
            get(engine.engine().startWriter());

            // Then
            eventually(
                    IN_TIME,
                    () -> assertThat(books.longOf(HELD.formatted(other.id()))).isZero());
            assertThat(books.longOf(HELD.formatted(stuck.id()))).isEqualTo(300);

            // And all are returned once nothing decided them
            decided.forEach(attempt -> redis.zrem(attempts, attempt));
            eventually(
                    IN_TIME,
                    () -> assertThat(books.longOf(HELD.formatted(stuck.id()))).isZero());
            books.assertClean();
        }
    }

    @Test
    void aCostIsHeldForAsLongAsItsRequestIsTried() {
        try (TestServers servers = Servers.fresh();
                TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "1m"))) {
            Books books = new Books(servers);

            // Given a cost that a server may still try to play for, and an older one
            TestDraws draws = new TestDraws(engine);
            draws.deposit("vera", POINTS, 10);
            Draw tried = draw(draws);
            Draw given = draw(draws);
            hold(books, tried, 1, "20 seconds");

            // When
            hold(books, given, 1, "70 seconds");

            // Then
            eventually(
                    IN_TIME,
                    () -> assertThat(books.longOf(HELD.formatted(given.id()))).isZero());
            assertThat(books.longOf(HELD.formatted(tried.id()))).isOne();
        }
    }
}
