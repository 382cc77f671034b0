package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an operator types and reads while something is set aside; the servers go on meanwhile. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QuarantineCommandIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    private TestServers servers;
    private Books books;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "20s"));
        engine.deposit("alice", 10_000);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private Typed type(String... words) {
        return Typed.on(servers, words);
    }

    /** A packet with one settled claim and one that Postgres refuses. */
    private Packet packetSetAside() {
        Packet packet = engine.send("alice", 1000, 5);
        engine.claim(packet, "bob");
        return packet;
    }

    private RefusingServer refuse(Packet packet) {
        RefusingServer rule =
                RefusingServer.rows(books, "transfer", "new.subject = '" + packet.id() + "' and new.slot > 0", "23514");
        assertThatThrownBy(() -> engine.claim(packet, "carol")).isInstanceOf(UnavailableException.class);
        return rule;
    }

    private void assertClaimsAgain(Packet packet, String user, int slot) {
        Eventually.eventually(
                SOON,
                () -> assertThat(engine.claim(packet, user).wonClaim().slot()).isEqualTo(slot));
    }

    @Test
    void whatIsSetAsideIsListedAndReplayedOnceTheCauseIsMended() {
        // Given
        assertThat(type("quarantine", "list"))
                .isEqualTo(new Typed(0, "nothing is set aside" + System.lineSeparator(), ""));
        Packet packet = packetSetAside();
        try (RefusingServer rule = refuse(packet)) {
            // When
            Typed list = type("quarantine", "list");
            Typed early = type("quarantine", "replay", packet.id().toString());
            Typed reconcile = type("reconcile");

            // Then
            assertThat(list.exit()).isZero();
            assertThat(list.out().lines())
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("packet " + packet.id() + "  shard 0  since ")
                                    .endsWith("  1 entries  holds " + (1000 - packet.amountOf(0)) + " CNY"),
                            line -> assertThat(line).isEqualTo("    23514 the test refuses it"),
                            line -> assertThat(line).isEqualTo("1 set aside"));
            assertThat(early.exit()).isEqualTo(1);
            assertThat(early.out()).isEmpty();
            assertThat(early.err())
                    .startsWith("hongbao: ")
                    .contains("the test refuses it")
                    .doesNotContain("\tat ");
            assertThat(reconcile.exit()).isEqualTo(4);
            assertThat(reconcile.out()).contains("HELD", packet.id().toString(), "no violation, 1 quarantined");
        }

        // When
        Typed replayed = type("quarantine", "replay", packet.id().toString());
        Typed again = type("quarantine", "replay", packet.id().toString());

        // Then
        assertThat(replayed)
                .isEqualTo(new Typed(0, packet.id() + " is back: 1 entries settled" + System.lineSeparator(), ""));
        assertThat(again)
                .isEqualTo(new Typed(0, packet.id() + " is not set aside: nothing to do" + System.lineSeparator(), ""));
        assertClaimsAgain(packet, "carol", 1);
        assertThat(type("reconcile").exit()).isZero();
    }

    @Test
    void whatIsSetAsideIsDroppedAndAMistypedIdTouchesNothing() {
        // Given
        Packet packet = packetSetAside();
        refuse(packet).close();
        String mistyped = UUID.randomUUID().toString();

        // When
        Typed nothing = type("quarantine", "VOID", mistyped);
        Typed kept = type("quarantine", "list");
        Typed dropped = type("quarantine", "void", packet.id().toString());

        // Then
        assertThat(nothing)
                .isEqualTo(new Typed(0, mistyped + " is not set aside: nothing to do" + System.lineSeparator(), ""));
        assertThat(kept.out()).contains(packet.id().toString());
        assertThat(dropped)
                .isEqualTo(new Typed(0, packet.id() + " is back: 1 entries dropped" + System.lineSeparator(), ""));
        assertThat(type("quarantine", "list").out()).contains("nothing is set aside");
        assertClaimsAgain(packet, "dave", 1);
        assertClaimsAgain(packet, "carol", 2);
        books.assertClean();
    }

    @Test
    void aDatabaseOnWhichNoServerWorkedIsRefused() {
        try (TestServers empty = Servers.freshWithoutTables()) {
            for (String action : new String[] {"list", "replay " + UUID.randomUUID(), "void " + UUID.randomUUID()}) {
                // When
                Typed typed = Typed.on(empty, ("quarantine " + action).split(" "));

                // Then
                assertThat(typed.exit()).as(typed.toString()).isEqualTo(2);
                assertThat(typed.err()).contains("no server has worked on this database");
                assertThat(typed.out()).isEmpty();
            }
        }
    }
}
