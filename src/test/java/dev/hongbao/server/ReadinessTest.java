package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ReadinessTest {
    @Test
    void aStoreIsAskedOncePerLifeAndAlsoWhenItHasNotAnswered() {
        // Given
        AtomicLong nanos = new AtomicLong();
        List<Promise<Boolean>> asked = new ArrayList<>();
        Supplier<Future<Boolean>> check = Readiness.remembered(
                () -> {
                    asked.add(Promise.promise());
                    return asked.get(asked.size() - 1).future();
                },
                Duration.ofNanos(10),
                nanos::get);

        // When
        Future<Boolean> first = check.get();
        nanos.set(9);
        Future<Boolean> early = check.get();
        asked.get(0).complete(false);
        nanos.set(10);
        Future<Boolean> late = check.get();

        // Then
        assertThat(asked).hasSize(2);
        assertThat(early.result()).isEqualTo(first.result()).isFalse();
        assertThat(late.isComplete()).isFalse();
    }
}
