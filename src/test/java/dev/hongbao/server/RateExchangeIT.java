package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.web.access.TokenSigner;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

/** A user's limit over two servers of one Redis. */
@ExtendWith(Servers.class)
class RateExchangeIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration FOR = Duration.ofSeconds(4);
    private static final int PER_SECOND = 20;
    private static final int BURST = 2 * PER_SECOND;

    /** Of a limit: what a caller gets at least, also on a machine that is too busy to ask as often as it may. */
    private static final double LEAST = 0.5;

    /** Of a limit: what a caller of two servers gets at most. Twice as much would be a limit of each. */
    private static final double MOST = 1.5;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final TestServers servers;

    RateExchangeIT(@Killable TestServers servers) {
        this.servers = servers;
    }

    private TestServer start() {
        return TestServer.start(servers, Map.of("limits.requests-per-second", String.valueOf(PER_SECOND)));
    }

    /** @param seconds that it took */
    private record Calls(int admitted, double seconds) {
        double most() {
            return BURST + PER_SECOND * seconds;
        }
    }

    private static int status(TestServer server, String token) throws Exception {
        return CLIENT.send(
                        HttpRequest.newBuilder(server.base().resolve("/v1/me/balances"))
                                .header("Authorization", "Bearer " + token)
                                .timeout(SOON)
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    /** One call after the other for a while, as fast as they are answered. */
    private static CompletableFuture<Calls> call(TestServer server, String user) {
        String token = new TokenSigner(server.secret(), null, null, Clock.systemUTC())
                .sign(new UserId(user), List.of(), Role.USER, Duration.ofHours(1));
        return CompletableFuture.supplyAsync(() -> {
            try {
                long start = System.nanoTime();
                int admitted = 0;
                while (System.nanoTime() - start < FOR.toNanos()) {
                    int status = status(server, token);
                    assertThat(status).isIn(200, 429);
                    admitted += status == 200 ? 1 : 0;
                }
                return new Calls(admitted, (System.nanoTime() - start) / 1e9);
            } catch (Exception fault) {
                throw new IllegalStateException(fault);
            }
        });
    }

    @Test
    void aUserOfTwoServersGetsOneLimitAndWithoutRedisOneOfEach() {
        try (TestServer one = start();
                TestServer two = start()) {
            // When alice calls both as fast as she can, and bob one of them
            CompletableFuture<Calls> alices = call(one, "alice");
            CompletableFuture<Calls> alicesElsewhere = call(two, "alice");
            Calls bobs = call(one, "bob").join();
            double most = Math.max(alices.join().most(), alicesElsewhere.join().most());
            int admitted = alices.join().admitted() + alicesElsewhere.join().admitted();

            // Then she gets about the limit of one server, and so does he
            assertThat((double) admitted).isBetween(LEAST * most, MOST * most);
            assertThat((double) bobs.admitted()).isBetween(LEAST * bobs.most(), bobs.most());

            // And nothing of it stays in Redis
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                eventually(
                        SOON, () -> assertThat(redis.keys("hongbao:*:rate:*")).isEmpty());
            }

            // When Redis is away
            ListAppender<ILoggingEvent> log = new ListAppender<>();
            log.start();
            Logger logger = (Logger) LoggerFactory.getLogger(RateExchange.class);
            logger.addAppender(log);
            servers.stopRedis();
            try {
                alices = call(one, "alice");
                alicesElsewhere = call(two, "alice");

                // Then each server limits alone, and nobody waits for it
                for (Calls calls : List.of(alices.join(), alicesElsewhere.join())) {
                    assertThat((double) calls.admitted()).isBetween(LEAST * calls.most(), calls.most());
                }

                // And each says so, once
                assertThat(log.list)
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .hasSize(2)
                        .allMatch(line -> line.contains("each server limits alone"));
            } finally {
                logger.detachAppender(log);
                servers.startRedis();
            }
        }
    }
}
