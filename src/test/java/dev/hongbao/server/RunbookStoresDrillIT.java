package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** The drills of Redis and Postgres. */
@ExtendWith(Servers.class)
class RunbookStoresDrillIT extends RunbookDrill {
    /** Each start of Redis recovers them all. */
    private static final int SHARDS = 32;

    private static final int OFTEN = 4;

    private static final int FILLER_BYTES = 32 << 20;

    @BeforeAll
    static void serve(@Killable TestServers given) {
        serve(given, Map.of("shards", Integer.toString(SHARDS)));
    }

    @Test
    void redisIsDownAndDoesNotStayUp() throws Exception {
        // Given
        clears("HongbaoRedisDown");
        Exposition before = scrape();

        // When
        servers.stopRedis();
        fires("HongbaoRedisDown");
        doctorNames("redis-does-not-answer");
        servers.startRedis();
        clears("HongbaoRedisDown");

        // When it ends again and again
        for (int starts = 1; starts < OFTEN; starts++) {
            awaitRecoveries(before, starts * SHARDS);
            servers.stopRedis();
            servers.startRedis();
        }
        fires("HongbaoRecoversAgain", before);

        // Then that is seen where the page looks, and nothing has to be done about the shards
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            assertThat(redis.info("server")).containsPattern("uptime_in_seconds:\\d\\r");
        }
        awaitRecoveries(before, OFTEN * SHARDS);
        Exposition after = scrape();
        json(claim("bob", send("equal", 100, 1)), 201);
        clears("HongbaoRecoversAgain", after);
    }

    private static void awaitRecoveries(Exposition before, int more) {
        String metric = "hongbao_journal_recoveries_total";
        Eventually.eventually(
                SOON,
                () -> assertThat(scrape().sum(metric) - before.sum(metric)).isGreaterThanOrEqualTo(more));
    }

    @Test
    void postgresIsDownAndTheAuditLogHasAGap() throws Exception {
        // Given
        clears("HongbaoPostgresDown");
        Exposition before = scrape();

        // When, and somebody is refused meanwhile
        servers.stopPostgres();
        fires("HongbaoPostgresDown");
        doctorNames("postgres-does-not-answer");
        assertProblem(get("eve", "/v1/audit"), 403, "forbidden");
        fires("HongbaoAuditMissed", before);

        // and Redis is still watched, whose journals grow then
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            double used = scrape().sum("hongbao_redis_memory_used_bytes");
            redis.set("filler", "x".repeat(FILLER_BYTES));
            Eventually.eventually(
                    SOON,
                    () -> assertThat(scrape().sum("hongbao_redis_memory_used_bytes") - used)
                            .isGreaterThan(FILLER_BYTES / 2.0));
            redis.del("filler");
        }

        // When
        servers.startPostgres();
        clears("HongbaoPostgresDown");

        // Then the next row tells it
        Exposition after = scrape();
        Eventually.eventually(
                SOON,
                () -> assertThat(items(get(null, "/v1/audit?limit=200")))
                        .anyMatch(row -> row.getInteger("missed", 0) > 0));
        clears("HongbaoAuditMissed", after);
    }

    @Test
    void theMemoryOfRedisIsNearlyFull() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            clears("HongbaoRedisMemory");
            String used = redis.info("memory").replaceFirst("(?s).*used_memory:(\\d+)\\r.*", "$1");
            try {
                // When
                redis.configSet("maxmemory", Long.toString(Long.parseLong(used) * 10 / 9));
                fires("HongbaoRedisMemory");
                doctorNames("the-memory-of-redis-is-nearly-full");

                // When
                redis.configSet("maxmemory", Long.toString(Long.parseLong(used) * 4));
                clears("HongbaoRedisMemory");
            } finally {
                redis.configSet("maxmemory", "0");
            }
        }
    }
}
