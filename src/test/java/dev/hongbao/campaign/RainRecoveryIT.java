package dev.hongbao.campaign;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.Eventually.eventuallyGet;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestRains.definition;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.PacketId;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** What a rain is when something breaks in the middle of it: Redis is emptied, the server that made it is gone. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RainRecoveryIT {
    private static final Duration IN_TIME = Duration.ofSeconds(15);

    private static Kind claim(TestEngine engine, String user, PacketId drop) {
        return get(engine.claim(0, TestEngine.member(user), drop)).kind();
    }

    /** A claim may have to wait longer for a recovery than its caller does. */
    private static Kind claimOnceRecovered(TestEngine engine, String user, PacketId drop) {
        return eventuallyGet(IN_TIME, () -> claim(engine, user, drop));
    }

    @Test
    void whatRedisLosesIsMadeAnew(TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            // Given three drops that have fallen and many that have not, and claims up to the limit and below it
            TestRains rains = new TestRains(engine);
            engine.deposit("shop", 100_000);
            Rain.View rain = rains.awaitFallen(rains.create(definition(60, 500, 5, 2)), 3);
            List<PacketId> fallen =
                    rain.fallen().stream().map(Rain.View.Drop::packet).toList();
            assertThat(claim(engine, "hal", fallen.get(0))).isEqualTo(Kind.CLAIMED);
            assertThat(claim(engine, "hal", fallen.get(1))).isEqualTo(Kind.CLAIMED);
            assertThat(claim(engine, "ida", fallen.get(1))).isEqualTo(Kind.CLAIMED);

            // When
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                redis.flushAll();
            }

            // Then nobody has more than the limit, and nothing twice
            assertThat(claimOnceRecovered(engine, "ida", fallen.get(2))).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED);
            assertThat(claimOnceRecovered(engine, "hal", fallen.get(2))).isEqualTo(Kind.LIMITED);
            assertThat(claimOnceRecovered(engine, "ida", fallen.get(0))).isEqualTo(Kind.LIMITED);
            assertThat(claimOnceRecovered(engine, "hal", fallen.get(0))).isEqualTo(Kind.ALREADY_CLAIMED);
            books.assertReconciled();

            // Then it ends to the cent
            rains.cancel(rain.rain().id());
            assertThat(rains.awaitEnded(rain).caught()).isEqualTo(new Rain.View.Caught(4, 40, 24_960));
            books.assertReconciled();
        }
    }

    @Test
    void itIsToldWhenTheServerThatMadeItIsGone(TestServers servers) {
        try (TestEngine other = TestEngine.start(servers, 1, Map.of())) {
            // Given
            Rain.View rain;
            try (TestEngine maker = TestEngine.start(servers, 1, Map.of())) {
                maker.deposit("shop", 1_000);
                rain = new TestRains(maker).create(definition(2, 4, 1, 1));
            }

            // When
            Rain.View ended = new TestRains(other).awaitEnded(rain);

            // Then
            assertThat(ended.caught()).isEqualTo(new Rain.View.Caught(0, 0, 40));
            eventually(
                    IN_TIME,
                    () -> assertThat(types(other, rain))
                            .containsExactly(
                                    "rain.announced",
                                    "rain.started",
                                    "packet.sent",
                                    "packet.sent",
                                    "packet.sent",
                                    "packet.sent",
                                    "rain.ended"));
        }
        new Books(servers).assertReconciled();
    }

    private static List<String> types(TestEngine engine, Rain.View rain) {
        return get(engine.loop(0)
                        .call(services -> services.feed
                                .poll(TestEngine.member("bob"), rain.rain().channel(), 0L, Duration.ZERO)
                                .page()))
                .items()
                .stream()
                .map(FeedPage.Event::json)
                .map(json -> new JsonObject(json).getString("type"))
                .toList();
    }
}
