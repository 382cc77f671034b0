package dev.hongbao.packet;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Time runs out: closed through the journal, refunded exactly once (invariants I1, I8, I11). */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClosingIT {
    private static final Duration IN_TIME = Duration.ofSeconds(2);
    private static final Duration HOUR = Duration.ofHours(1);

    /** One wallet is one row, and so one send after the other. */
    private static final int SENDERS = 10;

    /** In each of two shards more than a page of the closer. */
    private static final int MANY = 1_400;

    private TestServers servers;
    private Books books;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 2, Map.of());
        engine.deposit("alice", 1_000_000_000);
        IntStream.range(0, SENDERS).forEach(i -> engine.deposit("sender" + i, 1_000_000));
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    /** Else what is due of a shard that cannot settle would fill each page, and all others would wait behind it. */
    @Test
    void whatIsDueIsLookedForInEachShardByItself() throws SQLException {
        // Given two packets of each of two shards that are due and cannot be closed, since somebody holds the lock of
        // their escrows
        PacketStore store = new PacketStore(engine.engine().pool());
        Map<Integer, List<Packet>> two = new HashMap<>();
        while (two.values().stream().filter(all -> all.size() > 1).count() < 2) {
            Packet packet = engine.send("alice", lucky(100, 2, HOUR));
            two.computeIfAbsent(packet.shard(), shard -> new ArrayList<>()).add(packet);
        }
        two.values().removeIf(all -> all.size() < 2);
        String all = two.values().stream()
                .flatMap(List::stream)
                .map(packet -> "'" + packet.id() + "'")
                .collect(Collectors.joining(", "));
        try (Connection holder =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "account where owner in (" + all + ")")) {
            books.execute("update packet set expires_at = now() where id in (" + all + ")");

            // When one of each shard is asked for
            Map<Integer, List<PacketId>> due = get(store.due(two.keySet(), 1));

            // Then
            assertThat(due.keySet()).isEqualTo(two.keySet());
            assertThat(due.values()).allMatch(packets -> packets.size() == 1);
            holder.rollback();
        }
        two.values().forEach(packets -> packets.forEach(books::awaitClosed));
    }

    /** The owner asks for the work of all its tasks at once. */
    @Test
    void aTaskThatCannotLookForItsWorkKeepsNoPacketOpen() {
        // Given a table of draws that the server may not read
        String app = URI.create(servers.postgresAppUrl()).getUserInfo().split(":")[0];
        books.execute("revoke select on period from " + app);
        try {
            // When
            Packet packet = engine.send("alice", lucky(100, 5, Duration.ofMillis(100)));

            // Then
            books.awaitClosed(packet);
        } finally {
            books.execute("grant select on period to " + app);
        }
    }

    private List<Packet> sendMany(int count, Duration expiresIn) {
        List<Packet> sent = new ArrayList<>();
        for (int page = 0; page < count; page += 200) {
            List<Future<Packet>> sends = IntStream.range(0, Math.min(200, count - page))
                    .mapToObj(i -> engine.loop(i)
                            .call(services -> services.packets.send(
                                    member("sender" + i % SENDERS), lucky(100, 5, expiresIn), newKey())))
                    .toList();
            sends.forEach(send -> sent.add(get(send)));
        }
        return sent;
    }

    @Test
    void pagesThatExpireTogetherAreRefundedWhileTheyAreClaimed() {
        // Given
        List<Packet> packets = sendMany(MANY, HOUR);
        long before = books.longOf("select count(*) from transfer where kind = 'refund'");

        // When all are due at one moment, while people claim
        List<Future<ClaimOutcome>> claims = new ArrayList<>();
        for (int i = 0; i < MANY / 2; i++) {
            claims.add(engine.claim(i, packets.get(i), "early"));
        }
        books.execute("update packet set expires_at = now() where closed_at is null");
        for (int i = 0; i < MANY; i++) {
            claims.add(engine.claim(i, packets.get(i), "racer"));
        }

        // Then, on a machine that may be busy with other things; alone it takes well under two seconds
        long begun = System.nanoTime();
        eventually(Duration.ofSeconds(15), books::assertNothingDue);
        System.out.printf(
                "%d packets due at once: refunded after %d ms%n", MANY, (System.nanoTime() - begun) / 1_000_000);
        for (int i = 0; i < claims.size(); i++) {
            ClaimOutcome outcome = get(claims.get(i));
            assertThat(outcome.kind()).isIn(Kind.CLAIMED, Kind.EXPIRED);
        }
        assertThat(books.longOf("select count(*) from transfer where kind = 'refund'") - before)
                .isEqualTo(MANY);
        long settled = claims.stream()
                .filter(claim -> claim.result().kind() == Kind.CLAIMED)
                .count();
        assertThat(books.longOf("select count(*) from claim where user_id in ('early', 'racer')"))
                .isEqualTo(settled);
    }

    @Test
    void whatIsOverdueIsClosedThoughItsKeyIsNoHash() {
        // Given
        Packet packet = engine.send("alice", lucky(300, 3, HOUR));
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.set(books.stamps().get(packet.shard()) + ":p:" + packet.id(), "nonsense");
        }

        // When
        books.expire(packet);

        // Then
        eventually(
                Duration.ofSeconds(15),
                () -> assertThat(books.longOf("select count(*) from transfer where kind = 'refund' and subject = '"
                                + packet.id() + "'"))
                        .isEqualTo(1));
    }

    @Test
    void aCloseThatPaysNobodyFails() throws SQLException {
        // Given a packet whose payer is not there: a book that the rules would not have let anybody write
        Packet packet = engine.send("alice", lucky(300, 3, HOUR));
        TestDatabase.rolledBack(servers.postgresOwnerUrl(), statement -> {
            statement.execute(
                    "update packet set refund_to = -1, opens_at = now() - interval '1 hour', expires_at = now()"
                            + " where id = '" + packet.id() + "'");

            // When, then
            assertThatThrownBy(() -> statement.execute(
                            "select settle_closes('{}', '{}', '{}', '{}', '{}', '{" + packet.id() + "}')"))
                    .hasMessageContaining("an account that does not exist");
        });
    }

    /** A seed that is told earlier gives away the shares that are left. */
    @Test
    void theSeedIsToldWhenThePacketIsClosedAndNotBefore() throws SQLException {
        // Given a packet whose time ran out, and a close that cannot be settled yet
        Packet packet = engine.send("alice", lucky(1000, 3, HOUR));
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
        try (Connection locked =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "shard where id = " + packet.shard())) {
            books.expire(packet);

            // Then
            assertThat(view(packet))
                    .returns(PacketView.Status.EXPIRED, PacketView::status)
                    .returns(null, PacketView::seed);
            locked.rollback();
        }

        // When
        books.awaitClosed(packet);

        // Then
        assertThat(view(packet))
                .returns(PacketView.Status.REFUNDED, PacketView::status)
                .returns(null, PacketView::luckiest);
        assertThat(view(packet).seed()).hasSize(64);
    }

    private PacketView view(Packet packet) {
        return get(engine.loop(0).call(services -> services.packets.view(member("bob"), packet.id())));
    }

    @Test
    void aPacketsKeyLeavesTheShardThatWasStoredWithIt() {
        // Given a packet that lives in another shard than its id says
        Packet packet = engine.send("alice", lucky(300, 3, HOUR));
        int other = (packet.shard() + 1) % books.stamps().size();
        String key = books.stamps().get(other) + ":p:" + packet.id();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.rename(books.stamps().get(packet.shard()) + ":p:" + packet.id(), key);
            books.execute("update packet set shard = " + other + " where id = '" + packet.id() + "'");

            // When
            books.expire(packet);

            // Then
            books.awaitClosed(packet);
            eventually(IN_TIME, () -> assertThat(redis.exists(key)).isFalse());
        }
    }
}
