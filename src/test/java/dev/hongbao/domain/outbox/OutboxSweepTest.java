package dev.hongbao.domain.outbox;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.testing.Eventually;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class OutboxSweepTest {
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
        Logger log = (Logger) LoggerFactory.getLogger(OutboxSweep.class);
        log.addAppender(count);
        try {
            OutboxSweep sweep = new OutboxSweep(nobody, Duration.ofDays(1), 1_000);
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
}
