package dev.hongbao.doctor;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.doctor.Checks.StoreWait;
import dev.hongbao.doctor.Checks.StoreWait.Store;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreWaitTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Store STORE =
            new Store("redis.url", "Redis at redis://h", fault -> fault instanceof ConnectException);

    private final Vertx vertx = Vertx.vertx();
    private final AtomicInteger asked = new AtomicInteger();

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private Future<String> refused() {
        return Future.failedFuture(new ConnectException("refused " + asked.incrementAndGet()));
    }

    @Test
    void aStoreIsAskedUntilItAnswers() {
        try (StoreWait wait = new StoreWait(vertx, SOON)) {
            Future<String> answer =
                    wait.answer(STORE, () -> asked.get() < 3 ? refused() : Future.succeededFuture("here"));

            eventually(SOON, () -> assertThat(answer.isComplete()).isTrue());
            assertThat(answer.result()).isEqualTo("here");
            assertThat(asked).hasValue(3);
        }
    }

    @Test
    void whatDoesNotPassByItselfEndsTheWaitAtOnceAndSoDoesAQuestionThatThrows() {
        try (StoreWait wait = new StoreWait(vertx, SOON)) {
            Future<String> wrong =
                    wait.answer(STORE, () -> asked.get() < 1 ? refused() : Future.failedFuture("no such user"));
            Future<String> thrown = wait.answer(STORE, () -> {
                throw new IllegalStateException("a fault");
            });

            eventually(SOON, () -> assertThat(wrong.failed() && thrown.failed()).isTrue());
            assertThat(wrong.cause()).hasMessage("no such user");
            assertThat(thrown.cause()).hasMessage("a fault");
        }
    }

    @Test
    void theLimitEndsItWithTheLatestFault() {
        try (StoreWait wait = new StoreWait(vertx, Duration.ofMillis(100))) {
            Future<String> answer = wait.answer(STORE, this::refused);

            eventually(SOON, () -> assertThat(answer.failed()).isTrue());
            assertThat(answer.cause()).hasMessage("refused " + asked);
            assertThat(asked).hasValueLessThanOrEqualTo(2); // one on a slow machine
        }
    }

    @Test
    void whenNobodyWaitsAnyMoreItEndsThoughAQuestionIsUnderWay() {
        StoreWait wait = new StoreWait(vertx, SOON);
        Future<String> answer = wait.answer(STORE, () -> {
            asked.incrementAndGet();
            return Future.future(never -> {});
        });
        eventually(SOON, () -> assertThat(asked).hasValue(1));

        wait.close();
        wait.close();

        assertThat(answer.failed()).isTrue();
        assertThat(STORE.doesNotAnswer(answer.cause())).contains(" does not answer: ");
    }

    @Test
    void aStoreIsToldWithoutItsPassword() {
        assertThat(STORE.doesNotAnswer(new ConnectException("lost redis://:hunter2@h")))
                .isEqualTo("redis.url: Redis at redis://h does not answer: lost redis://:***@h");
        assertThat(STORE.doesNotAnswer(new IOException())).endsWith(": IOException");
    }

    @Test
    void aStoreThatAnswersNoIsNotCalledSilent() {
        assertThat(STORE.doesNotAnswer(new IOException("WRONGPASS")))
                .isEqualTo("redis.url: Redis at redis://h refuses: WRONGPASS");
    }
}
