package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;

/** Claims on real stores, without a face: who wins, who is refused and why (invariants I1, I2, I6, I7). */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClaimIT {
    private static final Duration HOUR = Duration.ofHours(1);

    private TestTime time;
    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        time = new TestTime(servers);
        engine = TestEngine.start(servers, 8, Map.of("packet.max-count", "100000", "claim.settle-timeout", "20s"));
        engine.deposit("alice", 1_000_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
        time.close();
    }

    private Future<ClaimOutcome> claim(int loop, Caller caller, PacketId packet, @Nullable String passcode) {
        return engine.loop(loop).call(services -> services.claims.claim(caller, packet, passcode));
    }

    private Kind kind(Caller caller, PacketId packet, @Nullable String passcode) {
        return get(claim(0, caller, packet, passcode)).kind();
    }

    /** Claims in one turn of one event loop, so that all but the first go into the same batches. */
    private List<ClaimOutcome> inOneTurn(int loop, Packet packet, List<String> users) {
        List<Future<ClaimOutcome>> all = new ArrayList<>();
        get(engine.loop(loop).call(services -> {
            users.forEach(user -> all.add(services.claims.claim(member(user), packet.id(), null)));
            return Future.join(all);
        }));
        return all.stream().map(Future::result).toList();
    }

    @Test
    void aDoubleClickWithinOneBatchWinsOneSlot() {
        // Given
        Packet packet = engine.send("alice", 1000, 10);

        // When
        List<ClaimOutcome> outcomes = inOneTurn(0, packet, List.of("first", "clicker", "clicker", "clicker"));

        // Then
        assertThat(outcomes.subList(1, 4).stream().map(ClaimOutcome::wonClaim).distinct())
                .hasSize(1);
        assertThat(outcomes.subList(1, 4).stream().map(ClaimOutcome::kind))
                .containsExactlyInAnyOrder(Kind.CLAIMED, Kind.ALREADY_CLAIMED, Kind.ALREADY_CLAIMED);
        assertThat(books.longOf("select count(*) from claim where packet = '" + packet.id() + "'"))
                .isEqualTo(2);
    }

    @Test
    void twoThousandUsersTryThreeTimesEachForAHundredShares() {
        // Given
        Packet packet = engine.send("alice", 10_000, 100);

        // When
        Map<String, List<Future<ClaimOutcome>>> tries = new HashMap<>();
        for (int i = 0; i < 6000; i++) {
            String user = "racer" + i % 2000;
            tries.computeIfAbsent(user, racer -> new ArrayList<>()).add(engine.claim(i + i / 2000, packet, user));
        }

        // Then
        List<Claim> won = new ArrayList<>();
        tries.forEach((user, answers) -> {
            List<ClaimOutcome> outcomes = answers.stream().map(TestEngine::get).toList();
            List<Kind> kinds =
                    outcomes.stream().map(ClaimOutcome::kind).sorted().toList();
            if (kinds.contains(Kind.CLAIMED)) {
                assertThat(kinds).containsExactly(Kind.CLAIMED, Kind.ALREADY_CLAIMED, Kind.ALREADY_CLAIMED);
                assertThat(outcomes.stream().map(ClaimOutcome::wonClaim).distinct())
                        .hasSize(1);
                won.add(outcomes.get(0).wonClaim());
            } else {
                assertThat(kinds).containsExactly(Kind.DRAINED, Kind.DRAINED, Kind.DRAINED);
            }
        });
        assertThat(won.stream().map(claim -> claim.slot()))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).boxed().toList());
        assertThat(won.stream().mapToLong(claim -> claim.amount()).sum()).isEqualTo(10_000);
    }

    @Test
    void everyRefusalHasItsReason() {
        // Given
        Packet packet = engine.send("alice", 1000, 1);
        Packet secret = engine.send("alice", command(Packet.Kind.LUCKY, 2, List.of(), " 恭喜发财 ", null));
        Packet exclusive =
                engine.send("alice", command(Packet.Kind.EXCLUSIVE, 1, List.of(new UserId("dora")), null, null));
        Packet later = engine.send(
                "alice",
                command(Packet.Kind.LUCKY, 2, List.of(), null, time.now().plus(HOUR)));
        Caller outsider = new Caller(new UserId("mallory"), Set.of(new GroupId("other")), Role.USER, Instant.MAX);

        // When, Then
        assertThat(kind(member("bob"), PacketId.create(), null)).isEqualTo(Kind.NOT_FOUND);
        assertThat(kind(outsider, packet.id(), null)).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(kind(member("bob"), exclusive.id(), null)).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(kind(member("dora"), exclusive.id(), null)).isEqualTo(Kind.CLAIMED);
        assertThat(kind(member("bob"), secret.id(), null)).isEqualTo(Kind.WRONG_PASSCODE);
        assertThat(kind(member("bob"), secret.id(), "恭喜")).isEqualTo(Kind.WRONG_PASSCODE);
        assertThat(kind(member("bob"), secret.id(), "恭喜发财")).isEqualTo(Kind.CLAIMED);
        assertThat(kind(member("bob"), secret.id(), null)).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(kind(member("bob"), later.id(), null)).isEqualTo(Kind.NOT_OPEN_YET);
        assertThat(kind(member("bob"), packet.id(), null)).isEqualTo(Kind.CLAIMED);
        assertThat(kind(member("carol"), packet.id(), null)).isEqualTo(Kind.DRAINED);
        time.move(HOUR.plusMinutes(1), engine);
        assertThat(kind(member("bob"), later.id(), null)).isEqualTo(Kind.CLAIMED);
        time.move(HOUR.multipliedBy(2), engine);
        assertThat(kind(member("carol"), later.id(), null)).isEqualTo(Kind.EXPIRED);
    }

    private static SendCommand command(
            Packet.Kind kind,
            int count,
            List<UserId> recipients,
            @Nullable String passcode,
            @Nullable Instant opensAt) {
        return SendCommand.of(GROUP, kind, CNY, 1000, count)
                .recipients(recipients)
                .passcode(passcode)
                .opensAt(opensAt)
                .expiresIn(HOUR)
                .build();
    }

    @Test
    void aWinnerGetsTheClaimBackWhateverHappened() {
        // Given
        Packet drained = engine.send("alice", TestEngine.lucky(1000, 1, HOUR.multipliedBy(2)));
        Packet expiring = engine.send("alice", 1000, 5);
        ClaimOutcome ofDrained = engine.claim(drained, "winner");
        ClaimOutcome ofExpiring = engine.claim(expiring, "winner");

        // When it is past its expiry, but not closed, since nobody settles
        get(engine.engine().stopWriter());
        time.move(HOUR.plusMinutes(1), engine);
        ClaimOutcome expired = get(engine.claim(1, expiring, "winner"));

        // When it is refunded
        get(engine.engine().startWriter());
        books.awaitClosed(expiring);

        // Then, on every loop
        assertThat(expired).isEqualTo(new ClaimOutcome(Kind.ALREADY_CLAIMED, ofExpiring.wonClaim()));
        for (int loop = 0; loop < 8; loop++) {
            assertThat(get(engine.claim(loop, drained, "winner")))
                    .isEqualTo(new ClaimOutcome(Kind.ALREADY_CLAIMED, ofDrained.wonClaim()));
            assertThat(get(engine.claim(loop, expiring, "winner")))
                    .isEqualTo(new ClaimOutcome(Kind.ALREADY_CLAIMED, ofExpiring.wonClaim()));
            assertThat(get(engine.claim(loop, drained, "late")).kind()).isEqualTo(Kind.DRAINED);
            assertThat(get(engine.claim(loop, expiring, "late")).kind()).isEqualTo(Kind.EXPIRED);
        }
    }

    @Test
    void aWinnerWhoseClaimIsNotSettledYetIsNotToldThatThePacketHasExpired() {
        // Given a claim that is accepted, and nobody who settles
        Packet packet = engine.send("alice", 1000, 5);
        get(engine.engine().stopWriter());
        try {
            assertThat(get(accept(0, packet, "winner")).kind()).isEqualTo(Kind.ACCEPTED);

            // When the winner asks again, on another loop, and the packet has expired
            time.move(HOUR.plusMinutes(1), engine);
            ClaimOutcome again = get(accept(1, packet, "winner"));

            // Then
            assertThat(again.kind()).isEqualTo(Kind.ACCEPTED);
            assertThat(get(accept(1, packet, "late")).kind()).isEqualTo(Kind.EXPIRED);
        } finally {
            get(engine.engine().startWriter());
        }
        assertThat(get(engine.claim(1, packet, "winner")).kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(get(engine.claim(1, packet, "late")).kind()).isEqualTo(Kind.EXPIRED);
    }

    private Future<ClaimOutcome> accept(int loop, Packet packet, String user) {
        return engine.loop(loop).call(services -> services.claims.accept(member(user), packet.id(), null));
    }

    @Test
    void whoHasAShareIsNotToldThatNothingWasDoneWhileItsAmountCannotBeRead() throws SQLException {
        // Given a packet whose last share stands in a block that another server has not read
        Packet packet = engine.send("alice", 1_000_000, Packet.Amounts.BLOCK + 1);
        get(engine.loop(0)
                .call(services -> Future.join(IntStream.range(0, Packet.Amounts.BLOCK)
                        .mapToObj(n -> services.claims.accept(member("early-" + n), packet.id(), null))
                        .toList())));
        try (TestEngine other = TestEngine.start(servers, 1, Map.of("claim.settle-timeout", "20s"))) {
            assertThat(other.claim(packet, "early-0").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
            List<Future<ClaimOutcome>> waiting = new ArrayList<>();

            // When somebody wins it there, during as many lookups as there may be
            try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "packet")) {
                Future<ClaimOutcome> last = other.loop(0).call(services -> {
                    for (int i = 0; i < 20_000; i++) {
                        waiting.add(services.claims.claim(member("nobody"), new PacketId(UUID.randomUUID()), null));
                    }
                    return services.claims.accept(member("last"), packet.id(), null);
                });

                // Then
                assertThatThrownBy(() -> get(last))
                        .isInstanceOfSatisfying(
                                UnavailableException.class,
                                refused -> assertThat(refused.reason()).isEqualTo(UnavailableException.Reason.UNKNOWN));
            }
            get(Future.join(waiting).otherwiseEmpty());
        }
        ClaimOutcome again = engine.claim(packet, "last");
        assertThat(again.kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(again.wonClaim().slot()).isEqualTo(Packet.Amounts.BLOCK);
    }

    @Test
    void aDrainedPacketIsRefusedWithoutTouchingRedis() {
        // Given
        Packet packet = engine.send("alice", 1000, 2);
        inOneTurn(0, packet, List.of("a", "b"));
        assertThat(engine.claim(packet, "c").kind()).isEqualTo(Kind.DRAINED);

        // When, while Redis runs no script
        List<Kind> kinds;
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.clientPause(HOUR.toMillis(), ClientPauseMode.WRITE);
            try {
                kinds = IntStream.range(0, 500).mapToObj(i -> engine.claim(i, packet, "late" + i)).toList().stream()
                        .map(late -> get(late).kind())
                        .toList();
            } finally {
                redis.clientUnpause();
            }
        }

        // Then
        assertThat(kinds).containsOnly(Kind.DRAINED);
    }

    @Test
    void aPacketMayHaveAHundredThousandShares() {
        // Given
        Packet packet = engine.send("alice", 10_000_000, 100_000);

        // When
        List<ClaimOutcome> outcomes = inOneTurn(
                0, packet, IntStream.range(0, 600).mapToObj(i -> "many" + i).toList());

        // Then
        outcomes.forEach(outcome -> assertThat(outcome.wonClaim().amount())
                .isEqualTo(packet.amountOf(outcome.wonClaim().slot())));
    }
}
