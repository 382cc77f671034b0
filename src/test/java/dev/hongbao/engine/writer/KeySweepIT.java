package dev.hongbao.engine.writer;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** All keys of a Redis are gone through for many shards at once: it stands still for others as often as that is done. */
@ExtendWith(Servers.class)
class KeySweepIT {
    private static final int SHARDS = 64;
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Pattern SCANS = Pattern.compile("cmdstat_scan:calls=(\\d+)");

    private static long scans(Jedis redis) {
        Matcher calls = SCANS.matcher(redis.info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Test
    void shardsThatRecoverTogetherShareThePasses(TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", Integer.toString(SHARDS)));
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            long epochs = books.sumOfEpochs();
            long before = scans(redis);

            // When no shard finds its scripts any more
            redis.scriptFlush();

            // Then
            eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThanOrEqualTo(epochs + SHARDS));
            get(engine.engine().ready(SOON));
            assertThat(scans(redis) - before).isBetween(1L, SHARDS / 2L);
        }
    }
}
