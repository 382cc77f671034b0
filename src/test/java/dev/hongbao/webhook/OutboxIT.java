package dev.hongbao.webhook;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.hongbao.draw.Draw;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Asset;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The outbox on real stores: two servers that settle and are read from. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OutboxIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Set<String> ALL = Set.copyOf(Outbox.TYPES);

    private TestServers servers;
    private TestEngine engine;
    private TestEngine other;
    private TestDraws draws;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 2, Map.of());
        other = TestEngine.start(servers, 1, Map.of());
        draws = new TestDraws(engine);
        books = new Books(servers);
        engine.deposit("alice", 10_000_000);
        draws.deposit("shop", CNY, 1_000_000);
    }

    @AfterAll
    void stop() {
        other.close();
        engine.close();
    }

    /** Reads on from a cursor, and keeps what it was told. */
    private static final class Host {
        private final OutboxReader outbox;
        private final List<OutboxEvent> events = new ArrayList<>();
        private OutboxCursor at;

        Host(TestEngine engine) {
            this(engine, get(engine.engine().outbox.reader.latest()));
        }

        Host(TestEngine engine, OutboxCursor at) {
            this.outbox = engine.engine().outbox.reader;
            this.at = at;
        }

        OutboxPage read(int most) {
            OutboxPage page = get(outbox.read(at, ALL, most));
            // As a client does: through the text
            at = OutboxCursor.parse(page.next().text());
            events.addAll(page.events());
            return page;
        }

        /** Reads until what it heard of something fits. */
        List<OutboxEvent> until(String about, Predicate<List<OutboxEvent>> enough) {
            eventually(SOON, () -> {
                read(100);
                assertThat(enough.test(of(about))).as("%s", of(about)).isTrue();
            });
            return of(about);
        }

        List<OutboxEvent> of(String about) {
            return events.stream()
                    .filter(event -> event.data().contains("\"" + about + "\""))
                    .toList();
        }
    }

    private static Predicate<List<OutboxEvent>> has(String type) {
        return events -> events.stream().anyMatch(event -> event.type().equals(type));
    }

    private static List<String> types(List<OutboxEvent> events) {
        return events.stream().map(OutboxEvent::type).toList();
    }

    private static JsonObject data(OutboxEvent event) {
        return new JsonObject(event.data());
    }

    @Test
    void aPacketIsToldFromItsSendToItsLastShareInOrder() {
        Host host = new Host(engine);

        // When three claim all of a packet
        Packet packet = engine.send("alice", 300, 3);
        for (String user : List.of("u1", "u2", "u3")) {
            assertThat(engine.claim(packet, user).kind()).isEqualTo(ClaimOutcome.Kind.CLAIMED);
        }

        // Then each fact is told once, in the order in which it became one
        List<OutboxEvent> told = host.until(packet.id().toString(), has("packet.drained"));
        assertThat(types(told))
                .containsExactly("packet.sent", "claim.settled", "claim.settled", "claim.settled", "packet.drained");
        assertThat(told.subList(1, 4))
                .extracting(event -> data(event).getString("user"))
                .containsExactly("u1", "u2", "u3");
        // and what it says is what the books say
        assertThat(told.subList(1, 4).stream()
                        .mapToLong(event -> data(event).getLong("amount"))
                        .sum())
                .isEqualTo(300);
        JsonObject sent = data(told.get(0));
        assertThat(sent.getString("sender")).isEqualTo("alice");
        assertThat(sent.getString("group")).isEqualTo("family");
        assertThat(sent.getString("expiresAt")).endsWith("Z");
        assertThat(told).extracting(OutboxEvent::id).doesNotHaveDuplicates();
    }

    @Test
    void whatExpiresIsToldWithItsRefund() {
        Host host = new Host(engine);

        Packet packet = engine.send("alice", TestEngine.lucky(100, 4, Duration.ofSeconds(1)));
        engine.claim(packet, "u1");

        List<OutboxEvent> told = host.until(packet.id().toString(), has("packet.refunded"));
        assertThat(types(told)).containsExactly("packet.sent", "claim.settled", "packet.expired", "packet.refunded");
        JsonObject end = data(told.get(3));
        assertThat(data(told.get(2)).getLong("claimed")).isEqualTo(end.getLong("claimed"));
        assertThat(end.getLong("refund") + end.getLong("claimed")).isEqualTo(100);
        assertThat(end.getLong("claimed")).isEqualTo(data(told.get(1)).getLong("amount"));
    }

    @Test
    void moneyThatComesAndGoesIsTold() {
        Host host = new Host(engine);
        String user = "mover" + System.nanoTime();

        engine.deposit(user, 500);
        get(engine.engine().wallets.withdraw(BACKEND, new UserId(user), CNY, 200, newKey()));

        List<OutboxEvent> told = host.until(user, has("transfer.withdrawal"));
        assertThat(types(told)).containsExactly("transfer.deposit", "transfer.withdrawal");
        assertThat(told).extracting(event -> data(event).getLong("amount")).containsExactly(500L, 200L);
    }

    @Test
    void playsThatCostAndPlaysThatAreFreeAreToldAndTheDrawsEnd() {
        // Given a draw that costs and a free one
        Host host = new Host(engine);
        draws.deposit("player", POINTS, 100);
        Draw paid = draws.create("""
            mode: table
            whenExhausted: stop
            cost: {asset: POINTS, amount: 10}
            prizes: [{name: cash, count: 3, stock: 3, perUser: 2, award: {asset: CNY, amount: 50}}]
            """);
        Draw free = draws.create("{mode: table, whenExhausted: repeat, prizes: [{name: smile, count: 1}]}");

        // When they are played, once too often, and closed
        get(draws.play(0, paid, "player"));
        get(draws.play(0, paid, "player"));
        get(draws.play(0, paid, "player"));
        get(draws.play(0, free, "player"));
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, paid.id())));
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, free.id())));

        // Then costs, plays, the cost that went back, and the ends are told
        List<OutboxEvent> ofPaid = host.until(paid.id().toString(), has("draw.closed"));
        assertThat(types(ofPaid).stream().filter(type -> !type.equals("transfer.cost")))
                .containsExactly("draw.opened", "play.settled", "play.settled", "transfer.return", "draw.closed");
        assertThat(types(ofPaid).stream().filter(type -> type.equals("transfer.cost")))
                .hasSize(3);
        OutboxEvent play = ofPaid.stream()
                .filter(event -> event.type().equals("play.settled"))
                .findFirst()
                .orElseThrow();
        assertThat(data(play).getString("prize")).isEqualTo("cash");
        assertThat(data(play).getLong("amount")).isEqualTo(50);
        List<OutboxEvent> ofFree = host.until(free.id().toString(), has("draw.closed"));
        assertThat(types(ofFree)).containsExactly("draw.opened", "play.settled", "draw.closed");
        assertThat(data(ofFree.get(1)).getValue("amount")).isNull();
        assertThat(data(ofFree.get(2)).getJsonObject("finalTable").getBoolean("checked"))
                .isTrue();
    }

    @Test
    void aCrowdsClaimsAreToldOnceEachToWhoReadsInSmallPagesFromAnyServer() {
        // Given two hosts, one at each server
        Host host = new Host(engine);
        Host elsewhere = new Host(other);
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            packets.add(engine.send("alice", 10_000, 50));
        }

        // When a crowd races for twenty packets, and the hosts read meanwhile in pages of any size
        List<Future<ClaimOutcome>> claims = new ArrayList<>();
        for (int user = 0; user < 60; user++) {
            for (Packet packet : packets) {
                claims.add((user % 2 == 0 ? engine : other).claim(user, packet, "crowd" + user));
            }
            elsewhere.read(1 + user * 7 % 70);
        }
        claims.forEach(TestEngine::get);

        // Then both were told every claim once, in slot order, after the packet's send and before its end
        for (Host each : List.of(host, elsewhere)) {
            for (Packet packet : packets) {
                eventually(SOON, () -> {
                    each.read(7);
                    assertThat(types(each.of(packet.id().toString()))).contains("packet.drained");
                });
                List<OutboxEvent> told = each.of(packet.id().toString());
                assertThat(told).hasSize(52);
                assertThat(told.get(0).type()).isEqualTo("packet.sent");
                assertThat(told.get(51).type()).isEqualTo("packet.drained");
                for (int slot = 0; slot < 50; slot++) {
                    assertThat(data(told.get(slot + 1)).getInteger("slot")).isEqualTo(slot);
                }
            }
            assertThat(each.events).extracting(OutboxEvent::id).doesNotHaveDuplicates();
        }
        // and both with the same ids
        assertThat(new HashSet<>(host.events))
                .containsAll(elsewhere.of(packets.get(0).id().toString()));
    }

    @Test
    void whatCommitsLateIsNotPassedOverAndNobodyHearsOfAClaimBeforeItsPacket() throws Exception {
        // Given a packet that is told, and then a deposit that has its place in the outbox and is not committed
        engine.declare(new Asset("SLOW"));
        Host host = new Host(engine);
        Packet before = engine.send("alice", 100, 2);
        host.until(before.id().toString(), has("packet.sent"));
        String late = "late" + System.nanoTime();
        try (Connection slow = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = slow.createStatement()) {
            slow.setAutoCommit(false);
            statement.execute(
                    "select * from move_wallets('deposit', array[gen_random_uuid()], array['backend'], array['" + late
                            + "'], array['SLOW'], array[5::bigint], array['" + late + "'], array['\\x00'::bytea],"
                            + " array['service'], array[null], array[null])");

            // When another packet is sent, and both are claimed
            Packet after = engine.send("alice", 100, 2);
            engine.claim(before, "u1");
            engine.claim(after, "u1");

            // Then the first one's claim is told all the same, and nothing of the other one
            host.until(before.id().toString(), has("claim.settled"));
            assertThat(host.of(after.id().toString())).isEmpty();

            // When the deposit commits, then it is told, and the packet from its beginning
            slow.commit();
            List<OutboxEvent> told = host.until(after.id().toString(), has("claim.settled"));
            assertThat(types(told)).containsExactly("packet.sent", "claim.settled");
            assertThat(types(host.until(late, has("transfer.deposit")))).containsExactly("transfer.deposit");
        }
    }

    @Test
    void aTransactionThatNeverEndsKeepsOnlyItsOwnEventsBack() throws Exception {
        // Given somebody who keeps a transaction open
        Host host = new Host(engine);
        Packet packet = engine.send("alice", 100, 2);
        host.until(packet.id().toString(), has("packet.sent"));
        try (Connection slow = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = slow.createStatement()) {
            slow.setAutoCommit(false);
            statement.execute("select pg_current_xact_id()");

            engine.deposit("bystander", 1);
            engine.claim(packet, "u1");

            assertThat(types(host.until(packet.id().toString(), has("claim.settled"))))
                    .containsExactly("packet.sent", "claim.settled");
        }
    }

    @Test
    void aBusyDrawThatCostsKeepsOnlyItsLatePlaysBack() throws Exception {
        // Given a packet, and a paid draw of another shard with a play before which nothing is to come
        Host host = new Host(engine);
        draws.deposit("busy", POINTS, 1_000);
        Draw draw = draws.create(
                "{mode: table, whenExhausted: repeat, cost: {asset: POINTS, amount: 10}, prizes: [{name: smile, count: 1}]}");
        Packet packet = engine.send("alice", 100, 2);
        while (packet.shard() == draw.shard()) {
            packet = engine.send("alice", 100, 2);
        }
        get(draws.play(0, draw, "busy"));
        long place = books.longOf("select max(n) from outbox where type = 'play.settled'");
        eventually(
                SOON,
                () -> assertThat(get(engine.engine().outbox.reader.latest()).least())
                        .isGreaterThanOrEqualTo(place));
        try (Connection slow = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = slow.createStatement()) {
            slow.setAutoCommit(false);
            statement.execute("select pg_current_xact_id()");

            // When plays come that have to wait, more than one page of them, and then a claim
            for (int i = 0; i < 70; i++) {
                get(draws.play(0, draw, "busy"));
            }
            engine.claim(packet, "u1");

            // Then the first play is told all the same, and so is the claim
            assertThat(types(host.until(draw.id().toString(), has("play.settled"))))
                    .containsExactly("draw.opened", "transfer.cost", "play.settled");
            assertThat(types(host.until(packet.id().toString(), has("claim.settled"))))
                    .containsExactly("packet.sent", "claim.settled");
        }

        // Then the others follow
        host.until(
                draw.id().toString(),
                told -> types(told).stream().filter("play.settled"::equals).count() == 71);
    }

    @Test
    void aRowOfATypeThatThisServerDoesNotKnowIsPassedOver() {
        // Given a deposit, and a row of it that a later server wrote
        Host host = new Host(engine);
        String before = "before" + System.nanoTime();
        engine.deposit(before, 5);
        books.execute("insert into outbox (shard, type, subjects, firsts, lasts, events)"
                + " select shard, 'transfer.unheard-of', subjects, firsts, lasts, events from outbox"
                + " where type = 'transfer.deposit' order by n desc limit 1");

        // When another deposit follows
        String after = "after" + System.nanoTime();
        engine.deposit(after, 7);

        // Then that is told, and the row is not
        host.until(after, has("transfer.deposit"));
        assertThat(types(host.of(before))).containsExactly("transfer.deposit");
    }

    @Test
    void whatIsOldGoesAndWhoWasAwayTooLongIsTold() {
        // Given a host that has read, and one that has not
        Host host = new Host(engine);
        Host away = new Host(engine);
        Packet packet = engine.send("alice", 100, 2);
        host.until(packet.id().toString(), has("packet.sent"));

        // When everything is old
        String sweep = "select outbox_sweep(interval '0', 1000000, 1000)";
        eventually(SOON, () -> {
            books.longOf(sweep);
            assertThat(books.longOf("select count(*) from outbox")).isZero();
        });
        engine.claim(packet, "u1");

        // Then who was away is told that something is missing, once, and both go on
        eventually(SOON, () -> assertThat(away.read(100).gap()).isEqualTo(OutboxPage.Gap.EXPIRED));
        assertThat(types(away.until(packet.id().toString(), has("claim.settled"))))
                .containsExactly("claim.settled");
        assertThat(away.read(100).gap()).isNull();
        assertThat(types(host.until(packet.id().toString(), has("claim.settled"))))
                .containsExactly("packet.sent", "claim.settled");
    }

    @Test
    void aStaleWriterTellsNothing() throws Exception {
        long before = books.longOf("select count(*) from outbox where type = 'claim.settled'");
        Packet packet = engine.send("alice", 100, 2);
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            assertThat(catchThrowable(() -> statement.execute(
                            "select * from settle_claims(array[0::smallint], array[1::bigint], array['no'],"
                                    + " array[0::bigint], array[1::bigint], array['" + packet.id()
                                    + "'::uuid], array[1], array[0], array['eve'], array[1::bigint])")))
                    .hasMessageContaining("stale cursor");
        }
        assertThat(books.longOf("select count(*) from outbox where type = 'claim.settled'"))
                .isEqualTo(before);
    }
}
