package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.http.Problem.FaultLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** How faults that many requests meet are told to the operator. */
class FaultLogTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(FaultLogTest.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 7);
    private final FaultLog faults = new FaultLog(logger, nanos::get);

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setAdditive(false);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(log);
        logger.setAdditive(true);
    }

    private static RuntimeException one() {
        return new IllegalStateException("one");
    }

    private static RuntimeException another() {
        return new IllegalStateException("another");
    }

    private boolean isTraced(int line) {
        return log.list.get(line).getThrowableProxy() != null;
    }

    private String line(int line) {
        return log.list.get(line).getFormattedMessage();
    }

    @Test
    void eachFailureIsALineAndTheTraceOfItsKindFollowsOnceAMinute() {
        // When the same fault comes three times, and one that is thrown elsewhere
        faults.failed("GET /a failed, request 1", one());
        faults.failed("GET /a failed, request 2", one());
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
        faults.failed("GET /a failed, request 3", one());
        faults.failed("GET /b failed, request 4", another());

        // Then
        assertThat(line(0)).isEqualTo("GET /a failed, request 1: java.lang.IllegalStateException: one");
        assertThat(isTraced(0)).isTrue();
        assertThat(line(1)).isEqualTo("GET /a failed, request 2: java.lang.IllegalStateException: one");
        assertThat(isTraced(1)).isFalse();
        assertThat(isTraced(2)).isFalse();
        assertThat(isTraced(3)).isTrue();

        // When a minute is over
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        faults.failed("GET /a failed, request 5", one());

        // Then
        assertThat(isTraced(4)).isTrue();
    }

    @Test
    void aFaultOfAnotherClassThatIsThrownInTheSamePlaceIsAnotherKind() {
        for (int i = 0; i < 2; i++) {
            faults.failed("first", i == 0 ? new IllegalStateException() : new IllegalArgumentException());
        }
        assertThat(isTraced(0)).isTrue();
        assertThat(isTraced(1)).isTrue();
    }

    @Test
    void whatAClientChoseMakesNoSecondLine() {
        faults.failed("frame claim of alice failed, id a\r\nERROR b", one());
        assertThat(line(0))
                .isEqualTo("frame claim of alice failed, id a ERROR b: java.lang.IllegalStateException: one");
    }
}
