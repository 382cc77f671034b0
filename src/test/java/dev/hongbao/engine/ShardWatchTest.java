package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Subscription;
import dev.hongbao.testing.StubLink;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.types.SimpleStringType;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An operator's view of the journals and of Redis. */
class ShardWatchTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Future<Response> AWAY = Future.failedFuture("away");

    private final ShardWatch.JournalAge age = new ShardWatch.JournalAge();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final ShardWatch.RedisMemory memory = new ShardWatch.RedisMemory(metrics);

    @Test
    void aJournalIsAsOldAsTheFirstLookThatSawTheOldestUnsettledEntry() {
        age.seen(1, 5, 0, SECOND);
        age.seen(1, 9, 0, 2 * SECOND);
        assertThat(age.seconds(4 * SECOND)).isEqualTo(3);

        // When the first ones are settled, the rest is younger
        age.seen(1, 9, 5, 5 * SECOND);
        assertThat(age.seconds(6 * SECOND)).isEqualTo(4);

        // When all are
        age.seen(1, 9, 9, 7 * SECOND);
        assertThat(age.seconds(8 * SECOND)).isZero();
    }

    @Test
    void anAgeGrowsWhileNobodyLooksAndIsForgottenWithItsGeneration() {
        age.seen(1, 5, 0, 0);
        assertThat(age.seconds(3_600 * SECOND)).isEqualTo(3_600);

        age.seen(2, 0, 0, 3_600 * SECOND);
        assertThat(age.seconds(3_601 * SECOND)).isZero();
    }

    @Test
    void aJournalThatGrowsForLongKeepsTheAgeOfItsOldestEntry() {
        for (int second = 0; second < 5_000; second++) {
            age.seen(1, 1 + second, 0, second * SECOND);
        }

        assertThat(age.seconds(5_000 * SECOND)).isEqualTo(5_000);
    }

    private static Future<Response> says(long used, long limit) {
        return Future.succeededFuture(
                SimpleStringType.create("used_memory:" + used + "\r\nmaxmemory:" + limit + "\r\n"));
    }

    @SafeVarargs
    private void look(Future<Response>... masters) {
        memory.look(new Masters(Stream.of(masters)
                .<RedisLink>map(answer -> new StubLink(asked -> answer))
                .toList()));
    }

    private double gauge(String name) {
        return metrics.get("hongbao.redis.memory." + name).gauge().value();
    }

    @Test
    void aFullMasterIsSeenHoweverEmptyTheOthersAre() {
        // When
        look(says(50, 1_000), says(95, 100), says(60, 0));

        // Then
        assertThat(gauge("used")).isEqualTo(95);
        assertThat(gauge("limit")).isEqualTo(100);
    }

    @Test
    void aMasterThatIsAwayDoesNotHideTheOthers() {
        // Given
        look(says(10, 100), says(20, 100));

        // When one is away, and the other fills up
        look(AWAY, says(90, 100));

        // Then
        assertThat(gauge("used")).isEqualTo(90);

        // When all are away, then the numbers stay
        look(AWAY, AWAY);
        assertThat(gauge("used")).isEqualTo(90);
    }

    @Test
    void withoutALimitItIsTheMasterThatUsesMost() {
        // When
        look(says(10, 0), says(30, 0), says(20, 0));

        // Then
        assertThat(gauge("used")).isEqualTo(30);
        assertThat(gauge("limit")).isZero();
    }

    private record Masters(List<RedisLink> servers) implements RedisLinks {
        @Override
        public RedisLink linkFor(String key) {
            return servers.get(0);
        }

        @Override
        public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<Void> close() {
            return Future.succeededFuture();
        }
    }
}
