package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.server.Readiness.HttpLoops;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    @Test
    void aLoopThatHangsDoesNotAnswerAndOneThatDoesNotServeYetIsNotWell() throws Exception {
        // Given two loops of three, of which one hangs
        Vertx vertx = Vertx.vertx();
        CountDownLatch hangs = new CountDownLatch(1);
        HttpLoops loops = new HttpLoops(3);
        Context second = ((VertxInternal) vertx).createEventLoopContext();
        loops.serving(((VertxInternal) vertx).createEventLoopContext());
        loops.serving(second);
        second.runOnContext(now -> {
            try {
                hangs.await();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });

        // When
        Map<String, Supplier<Future<Boolean>>> checks = loops.checks();
        Future<Boolean> well = checks.get("http-loop-1").get();
        Future<Boolean> hung = checks.get("http-loop-2").get();

        // Then
        assertThat(well.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(hung.isComplete()).isFalse();
        assertThat(checks.get("http-loop-3").get().result()).isFalse();
        hangs.countDown();
        assertThat(hung.await(10, TimeUnit.SECONDS)).isTrue();
        vertx.close().await(10, TimeUnit.SECONDS);
    }
}
