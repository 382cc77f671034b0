package dev.hongbao.draw.odds;

import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.PacketView;
import dev.hongbao.packet.split.Split;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A packet's seed is told when no share can be claimed any more, and not before; then everything can be computed again. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SeedIT {
    private static final Duration HOUR = Duration.ofHours(1);

    private TestServers servers;
    private Books books;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of());
        engine.deposit("alice", 1_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertReconciled();
    }

    private PacketView view(Packet packet, String viewer) {
        return get(engine.loop(0).call(services -> services.packets.view(member(viewer), packet.id())));
    }

    /** The packet is closed, and its seed gives what it was committed to and all that it gave. */
    private void assertProven(Packet packet, PacketView view) {
        byte[] seed = HexFormat.of().parseHex(Objects.requireNonNull(view.seed()));
        assertThat(Commitment.of(packet.id().value(), CNY, packet.terms(), seed))
                .isEqualTo(packet.commitment());
        assertThat(view.packet().commitment()).isEqualTo(packet.commitment());
        long[] amounts = Split.amounts(packet.terms(), seed);
        assertThat(IntStream.range(0, amounts.length)
                        .mapToLong(packet::amountOf)
                        .toArray())
                .isEqualTo(amounts);
    }

    @Test
    void theSeedIsToldOnceTheLastShareIsClaimed() {
        // Given
        Packet packet = engine.send("alice", 1000, 3);
        assertThat(view(packet, "alice").seed()).isNull();
        engine.claim(packet, "bob");
        engine.claim(packet, "carol");

        // Then not to the sender, to a winner or to another
        for (String viewer : new String[] {"alice", "bob", "dave"}) {
            assertThat(view(packet, viewer).seed()).as(viewer).isNull();
        }

        // When
        engine.claim(packet, "dave");

        // Then to all
        for (String viewer : new String[] {"alice", "bob", "erin"}) {
            assertProven(packet, view(packet, viewer));
        }
    }

    @Test
    void whileAPacketWaitsForItsCloseTheSeedIsNotTold() throws Exception {
        // Given a packet whose time ran out, and a close that cannot be settled yet
        Packet packet = engine.send("alice", lucky(1000, 3, HOUR));
        engine.claim(packet, "bob");
        String wallet = "select from account where owner = 'alice' and kind = 'wallet' for update";
        try (Connection locked = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement lock = locked.createStatement()) {
            locked.setAutoCommit(false);
            lock.execute(wallet);
            books.expire(packet);

            // Then
            PacketView due = view(packet, "bob");
            assertThat(due.status()).isEqualTo(PacketView.Status.EXPIRED);
            assertThat(due.seed()).isNull();
            locked.rollback();
        }

        // When
        books.awaitClosed(packet);

        // Then, also for whoever asks again
        assertProven(packet, view(packet, "bob"));
        assertThat(engine.claim(packet, "late").kind()).isEqualTo(Kind.EXPIRED);
        PacketView over = view(packet, "late");
        assertThat(over.status()).isEqualTo(PacketView.Status.REFUNDED);
        assertThat(over.luckiest()).isNull();
        assertProven(packet, over);
    }
}
