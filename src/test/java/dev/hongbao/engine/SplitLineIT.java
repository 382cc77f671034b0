package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The line between the servers falls silent for so long that each takes the other for dead; both reach the stores all the while. */
@Tag("long")
@ExtendWith(Servers.class)
class SplitLineIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "4");

    private static final Duration LONG = Duration.ofSeconds(60);

    private static RedisLine line(TestEngine engine, TestServers servers, LossyProxy proxy) {
        URI redis = URI.create(servers.redisUrl());
        String behind = servers.redisUrl().replace(":" + redis.getPort(), ":" + proxy.port());
        return new RedisLine(
                engine.vertx(),
                () -> RedisLinks.open(engine.vertx(), behind, Duration.ofSeconds(2), "line"),
                () -> Installation.lineKeys(engine.engine().pool()),
                engine.engine().namespace(),
                engine.metrics());
    }

    private static double heard(TestEngine engine) {
        return engine.messages("heard");
    }

    /** Each hears the other, again and again. */
    private static void awaitHeard(TestEngine... engines) {
        for (TestEngine engine : engines) {
            double before = heard(engine);
            eventually(LONG, () -> assertThat(heard(engine)).isGreaterThan(before + 3));
        }
    }

    @Test
    void bothHalvesOfALongSplitServeAndHearEachOtherAfterIt(TestServers servers) throws Exception {
        Books books = new Books(servers);
        URI redis = URI.create(servers.redisUrl());
        try (TestEngine first = TestEngine.start(servers, 2, OPTIONS);
                TestEngine second = TestEngine.start(servers, 2, OPTIONS);
                LossyProxy proxy = new LossyProxy(redis.getHost(), redis.getPort())) {
            // Given two servers that hear each other, while people claim at both
            get(first.engine().join(line(first, servers, proxy)));
            get(second.engine().join(line(second, servers, proxy)));
            first.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(first, second).start("alice");
            awaitHeard(first, second);
            crowd.awaitSettled(200);

            // When their lines fall silent
            proxy.fallSilent();
            crowd.awaitSettled(200);
            double heard = heard(first);

            // Then each serves alone
            crowd.awaitSettled(500);
            assertThat(heard(first)).isEqualTo(heard);

            // When they are back, Then the servers hear each other again
            long begun = System.nanoTime();
            proxy.comeBack();
            awaitHeard(first, second);
            System.out.printf("heard again %d ms after the silence%n", (System.nanoTime() - begun) / 1_000_000);
            crowd.awaitSettled(200);
            crowd.stop();

            // And nothing was lost or told wrong
            assertThat(crowd.unknownAnswers()).isZero();
            crowd.assertAnswersKept(servers);
            eventually(LONG, () -> {
                books.assertNothingDue();
                books.assertJournalsEmpty();
            });
            books.assertReconciled();
        }
    }
}
