package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Claims whose answer was given up are still in the journal: nobody is let in to wait behind them in vain. */
@ExtendWith(Servers.class)
class GivenUpClaimsIT {
    private static final int MAX_WAITING = 50;

    @Test
    void theyTakeTheirPlacesUntilTheyAreSettledAndEachIsALineOfTheLog(TestServers servers) throws Exception {
        Map<String, String> options = Map.of(
                "claim.max-waiting", Integer.toString(MAX_WAITING),
                "claim.settle-timeout", "200ms",
                "log.slow-claim", "100ms",
                "http.event-loops", "1");
        Logger logger = (Logger) LoggerFactory.getLogger(ClaimService.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try (TestEngine engine = TestEngine.start(servers, 1, options)) {
            // Given a Postgres that does not settle, and as many claims as may wait
            engine.deposit("alice", 10_000);
            Packet packet = engine.send("alice", 1000, 1000);
            try (Connection blocker = TestDatabase.lockRows(servers.postgresOwnerUrl(), "shard")) {
                List<Future<ClaimOutcome>> given = new ArrayList<>();
                for (int i = 0; i < MAX_WAITING; i++) {
                    given.add(engine.claim(0, packet, "u" + i));
                }

                // When all of them are given up
                for (Future<ClaimOutcome> answer : given) {
                    assertThatThrownBy(() -> get(answer)).isInstanceOf(UnavailableException.class);
                }

                // Then each is logged with its packet, shard and outcome
                String cause = given.get(0).cause().getMessage();
                assertThat(log.list)
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .filteredOn(line -> line.startsWith("a claim took "))
                        .hasSize(MAX_WAITING)
                        .allMatch(line -> line.endsWith(
                                " ms: packet " + packet.id() + ", shard " + packet.shard() + ", " + cause));

                // And a further one is refused, and not let in
                assertThatThrownBy(() -> engine.claim(packet, "late"))
                        .isInstanceOfSatisfying(
                                UnavailableException.class,
                                refused ->
                                        assertThat(refused.reason()).isEqualTo(UnavailableException.Reason.OVERLOADED));
                blocker.rollback();
            }

            // And once they are settled there is room again
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(engine.claim(packet, "late").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            assertThat(engine.claim(packet, "u0").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        } finally {
            logger.detachAppender(log);
        }
    }
}
