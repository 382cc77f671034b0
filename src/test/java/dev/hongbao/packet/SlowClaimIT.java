package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Claims that take longer than {@code log.slow-claim}. */
@ExtendWith(Servers.class)
class SlowClaimIT {
    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    void aSlowClaimIsALineWithItsPacketItsShardAndItsOutcome(TestServers servers) throws Exception {
        Map<String, String> options = Map.of("log.slow-claim", "100ms", "claim.settle-timeout", "200ms");
        Logger logger = (Logger) LoggerFactory.getLogger(ClaimService.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try (TestEngine engine = TestEngine.start(servers, 1, options);
                Connection blocker = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = blocker.createStatement()) {
            // Given a Postgres that does not settle
            engine.deposit("alice", 1_000);
            Packet packet = engine.send("alice", 1_000, 10);
            blocker.setAutoCommit(false);
            statement.execute("select 1 from shard for update");

            // When a claim is given up
            Throwable givenUp = catchThrowable(() -> engine.claim(packet, "bob"));

            // Then
            assertThat(givenUp).isInstanceOf(UnavailableException.class);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(log.list)
                            .extracting(ILoggingEvent::getFormattedMessage)
                            .filteredOn(line -> line.startsWith("a claim took "))
                            .hasSize(1)
                            .allMatch(line -> line.endsWith(" ms: packet " + packet.id() + ", shard " + packet.shard()
                                    + ", " + givenUp.getMessage())));
            blocker.rollback();
        } finally {
            logger.detachAppender(log);
        }
    }
}
