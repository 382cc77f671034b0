package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client froze in the middle of a transaction and holds a row's lock: one shard waits for it, the others settle on. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LockedRowIT {
    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "4", "claim.settle-timeout", "5s"));
        engine.deposit("alice", 100_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    /** A packet of another shard. */
    private Packet sendApartFrom(Packet other) {
        return send(packet -> packet.shard() != other.shard());
    }

    private Packet send(Predicate<Packet> wanted) {
        return Stream.generate(() -> engine.send("alice", 10_000, 5_000))
                .limit(100)
                .filter(wanted)
                .findFirst()
                .orElseThrow();
    }

    private Future<ClaimOutcome> claim(Packet packet, String user) {
        return engine.claim(0, packet, user);
    }

    /** Claims, and waits until the claim is accepted. */
    private Future<ClaimOutcome> accept(Packet packet, String user) {
        Promise<Claim> accepted = Promise.promise();
        Future<ClaimOutcome> settled = engine.loop(0)
                .call(services -> services.claims.claim(member(user), packet.id(), null, accepted::complete));
        get(accepted.future());
        return settled;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select from account where owner = 'bob' for update",
                "select from shard where id = (select shard from packet where id = '%s') for update"
            })
    void othersSettleWhileOneShardWaitsForALock(String lock) throws SQLException {
        // Given two packets of different shards
        Packet held = engine.send("alice", 100, 2);
        Packet free = sendApartFrom(held);
        assertThat(get(claim(held, "bob")).kind()).isEqualTo(Kind.CLAIMED);
        Packet next = send(packet -> packet.shard() == held.shard());
        Future<ClaimOutcome> waiting;
        try (Connection frozen = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = frozen.createStatement()) {
            frozen.setAutoCommit(false);
            statement.execute(lock.formatted(next.id()));

            // When
            waiting = accept(next, "bob");

            // Then
            for (int i = 0; i < 10; i++) {
                assertThat(get(claim(free, "m" + i)).kind()).isEqualTo(Kind.CLAIMED);
            }
            assertThat(waiting.isComplete()).isFalse();
        }

        // When the lock is gone, Then
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(get(claim(next, "bob")).kind()).isEqualTo(Kind.ALREADY_CLAIMED));
        assertThat(get(claim(next, "carol")).kind()).isEqualTo(Kind.CLAIMED);
    }

    /** As a settlement of claims does: else the two may wait for each other. */
    @Test
    void aCloseHoldsItsAccountsBeforeItTellsTheGroup() throws SQLException {
        // Given a packet that is due, of a group whose feed somebody holds
        Packet packet = engine.send("alice", 100, 2);
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from group_event where subject = '" + packet.id() + "'"))
                        .isOne());
        try (Connection frozen =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "feed where group_id = '" + packet.group() + "'")) {
            // When
            books.expire(packet);

            // Then the sender's wallet is held while it waits
            eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(books.longOf("select count(*) from (select from account"
                                    + " where owner = 'alice' and kind = 'wallet' for update skip locked) as free"))
                            .isZero());
            assertThat(frozen.isClosed()).isFalse();
        }
        books.awaitClosed(packet);
    }

    @Test
    void whoSendsDoesNotKeepAServerFromTakingUpAShard() throws SQLException {
        // Given a send that is under way for long: it keeps its shard's generation as it is
        Packet packet = engine.send("alice", 100, 2);
        get(engine.engine().stopWriter());
        try (Connection slow = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = slow.createStatement()) {
            slow.setAutoCommit(false);
            statement.execute("select hold_generations(array(select id from shard))");

            // When, then
            get(engine.engine().startWriter());
            assertThat(get(claim(packet, "bob")).kind()).isEqualTo(Kind.CLAIMED);
        }
    }

    @Test
    void aRowThatSomebodyHoldsKeepsNoOtherShardFromBeingTakenUp() throws SQLException {
        // Given two packets of different shards
        Packet held = engine.send("alice", 100, 2);
        Packet free = sendApartFrom(held);
        get(engine.engine().stopWriter());
        try (Connection frozen =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "shard where id = " + held.shard())) {
            // When
            get(engine.engine().startWriter());

            // Then
            for (int i = 0; i < 10; i++) {
                assertThat(get(claim(free, "m" + i)).kind()).isEqualTo(Kind.CLAIMED);
            }
            assertThat(frozen.isClosed()).isFalse();
        }

        // When the row is free, Then
        assertThat(get(claim(held, "bob")).kind()).isEqualTo(Kind.CLAIMED);
    }

    @Test
    void whoLeavesATransactionOpenIsDisconnectedAfterFiveSeconds() {
        String timeout = get(engine.engine()
                        .pool()
                        .query("show idle_in_transaction_session_timeout")
                        .execute())
                .iterator()
                .next()
                .getString(0);
        assertThat(timeout).isEqualTo("5s");
    }
}
