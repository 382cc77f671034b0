package dev.hongbao.tools.chaos.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.hongbao.testing.Eventually;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/** The faults of Redis have their effects. */
class RedisSideIT {
    private static final Path BINARIES =
            Path.of("target", "test-servers", "bin").toAbsolutePath();
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final String PAGE = "x".repeat(10_000);

    @TempDir
    private Path directory;

    private RedisSide redis;

    @BeforeEach
    void start() throws IOException {
        redis = new RedisSide(Form.ONE, directory.resolve("redis"), BINARIES);
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    @Test
    void aFullDiskRefusesWritesAndLosesNothing() throws IOException {
        assumeTrue(RedisSide.isFillable(Form.ONE), "this process may mount no disk");
        try (Jedis client = redis.client()) {
            // Given
            client.set("before", "1");

            // When
            redis.fillDisk();

            // Then
            Eventually.eventually(
                    SOON,
                    () -> assertThatThrownBy(() -> client.append("much", PAGE)).hasMessageContaining("MISCONF"));
            redis.freeDisk();
            Eventually.eventually(SOON, () -> client.set("after", "1"));
            redis.kill();
        }
        redis.startAgain();
        try (Jedis client = redis.client()) {
            assertThat(client.mget("before", "after")).containsExactly("1", "1");
        }
    }

    @Test
    void whatWasNotOnDiskIsLost() throws Exception {
        // Given
        AtomicLong answered = new AtomicLong();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            try (Jedis client = redis.client()) {
                while (true) {
                    answered.set(client.incr("count"));
                }
            } catch (JedisException killed) {
                // as was to come
            }
        });
        Eventually.eventually(SOON, () -> assertThat(answered).hasValueGreaterThan(100));
        long before = answered.get();

        // When
        redis.cutLogToSynced(500);
        writing.join();
        redis.startAgain();

        // Then
        try (Jedis client = redis.client()) {
            assertThat(Long.parseLong(client.get("count")))
                    .isGreaterThanOrEqualTo(before)
                    .isLessThan(answered.get());
        }
    }

    @Test
    void aDamagedLogIsNamed() throws Exception {
        // Given
        try (Jedis client = redis.client()) {
            IntStream.range(0, 100).forEach(i -> client.append("text", PAGE));
        }
        long seed = new SplittableRandom().nextLong();
        System.out.println("seed " + seed);

        // When
        redis.flipLog(new SplittableRandom(seed));
        redis.startAgainOrForget();

        // Then
        try (Jedis client = redis.client()) {
            assertThat(client.get("text")).isNotEqualTo(PAGE.repeat(100));
        }
    }
}
