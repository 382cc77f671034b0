package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres' clock went back five minutes: what was open when it was made stays open. As if: the rows are moved ahead instead. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClockWentBackIT {
    private static final String AHEAD = " + interval '5 minutes'";

    private TestEngine engine;
    private TestDraws draws;
    private Books books;
    private long epochs;

    @BeforeAll
    void start(TestServers servers) {
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        draws = new TestDraws(engine);
        engine.deposit("alice", 1_000);
        epochs = books.sumOfEpochs();
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private void assertNothingContradicts() {
        eventually(Duration.ofSeconds(10), books::assertJournalsEmpty);
        assertThat(engine.metrics().get("hongbao.journal.voids").counter().count())
                .isZero();
        assertThat(books.sumOfEpochs()).isEqualTo(epochs);
        books.assertClean();
    }

    @Test
    void claimsOfAPacketAreSettled() {
        // Given
        Packet packet = engine.send("alice", 100, 2);
        books.execute("update packet set created_at = created_at" + AHEAD + ", opens_at = opens_at" + AHEAD
                + ", expires_at = expires_at" + AHEAD + " where id = '" + packet.id() + "'");

        // When, Then
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        assertThat(engine.claim(packet, "carol").kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        assertNothingContradicts();
    }

    @Test
    void aPacketThatClosedBeforeItsLastClaimIsNoViolation() {
        // Given
        Packet packet = engine.send("alice", 100, 2);
        engine.claim(packet, "bob");
        engine.claim(packet, "carol");
        books.awaitClosed(packet);

        // When
        books.execute(
                "update packet set closed_at = closed_at - interval '30 seconds' where id = '" + packet.id() + "'");

        // Then
        assertNothingContradicts();
    }

    @Test
    void playsOfADrawAreSettled() {
        // Given
        Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
        books.execute("update draw set created_at = created_at" + AHEAD + ", opens_at = opens_at" + AHEAD
                + ", closes_at = closes_at" + AHEAD + " where id = '" + draw.id() + "'");

        // When, Then
        assertThat(get(draws.play(0, draw, "bob")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        assertNothingContradicts();
    }
}
