package dev.hongbao.store.postgres;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.hongbao.testing.Eventually;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SweepTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration OFTEN = Duration.ofMillis(5);

    @Test
    void afterItsEndItTriesNoMoreAndSaysNothing() {
        // Given a sweep that fails again and again, and says so
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        Pool nobody = new Postgres(vertx, PostgresAddress.of("postgresql://u:p@127.0.0.1:1/none"))
                .pool("sweep", 1, 10, Postgres.SHORT);
        AtomicInteger said = new AtomicInteger();
        AppenderBase<ILoggingEvent> count = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                said.incrementAndGet();
            }
        };
        count.start();
        Logger log = (Logger) LoggerFactory.getLogger(Sweep.class);
        log.addAppender(count);
        try {
            Sweep sweep = Sweep.byAge(nobody, "nothing", "nothing_sweep", Duration.ofDays(1));
            sweep.start(vertx, OFTEN);
            Eventually.eventually(SOON, () -> assertThat(said).hasPositiveValue());

            // When it is stopped and its pool is closed, on the one event loop that there is
            AtomicInteger ticks = new AtomicInteger();
            vertx.runOnContext(now -> {
                sweep.stop(vertx);
                said.set(0);
                vertx.setPeriodic(OFTEN.toMillis(), tick -> ticks.incrementAndGet());
            });
            nobody.close();

            // Then nothing more is heard of it
            Eventually.eventually(SOON, () -> assertThat(ticks).hasValueGreaterThan(20));
            assertThat(said).hasValue(0);
        } finally {
            log.detachAppender(count);
            get(vertx.close());
        }
    }

    @Test
    void pageAfterPageGoesHoweverManyThereAre() {
        // Given very many full pages, and some rows
        Vertx vertx = Vertx.vertx();
        AtomicInteger left = new AtomicInteger(100_000);
        try {
            // When
            long gone = get(Sweep.pages(() -> Future.future(page ->
                    vertx.runOnContext(now -> page.complete(left.getAndDecrement() > 0 ? (long) Sweep.PAGE : 7L)))));

            // Then
            assertThat(gone).isEqualTo(100_000L * Sweep.PAGE + 7);
        } finally {
            get(vertx.close());
        }
    }

    @Test
    void aPageThatFailsEndsIt() {
        assertThatThrownBy(() -> get(Sweep.pages(() -> Future.failedFuture(new IllegalStateException("away")))))
                .hasMessage("away");
    }
}
