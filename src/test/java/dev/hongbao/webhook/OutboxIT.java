package dev.hongbao.webhook;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.CampaignService;
import dev.hongbao.draw.Draw;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Overlap;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.Asset;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The outbox on real stores: two servers that settle and are read from, with the totals of the books. */
class OutboxIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Set<String> ALL = Set.copyOf(Outbox.TYPES);

    private TestDraws draws;
    private TestCampaigns campaigns;

    @Override
    protected Map<String, String> options() {
        return Map.of("webhooks.private-networks", "127.0.0.0/8");
    }

    @BeforeAll
    void pay() {
        draws = new TestDraws(engine);
        campaigns = new TestCampaigns(engine);
        engine.deposit("alice", 10_000_000);
    }

    /** The tests have forged the outbox, which the checks would find. */
    @Override
    protected void assertBooks() {}

    /** Reads on from a cursor, and keeps what it was told. */
    private static final class Host {
        private final OutboxReader outbox;
        private final List<OutboxEvent> events = new ArrayList<>();
        private OutboxCursor at;

        Host(TestEngine engine) {
            this.outbox = engine.engine().outbox.reader;
            this.at = get(outbox.latest());
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
        for (int i = 0; i < 4; i++) {
            packets.add(engine.send("alice", 10_000, 50));
        }

        // When a crowd races for four packets, and the hosts read meanwhile in pages of any size
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
        try (Connection slow = TestDatabase.begin(
                servers.postgresAppUrl(),
                "select * from move_wallets('deposit', array[gen_random_uuid()], array['backend'], array['" + late
                        + "'], array['SLOW'], array[5::bigint], array['" + late + "'], array['\\x00'::bytea],"
                        + " array['service'], array[null], array[null])")) {

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
        try (Connection slow = TestDatabase.begin(servers.postgresAppUrl(), "select pg_current_xact_id()")) {
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

    private static JsonObject expected(Campaign.View campaign) {
        return new JsonObject()
                .put("campaign", campaign.campaign().id().toString())
                .put("sponsor", "shop")
                .put("name", "Shoes")
                .put("asset", "CNY")
                .put("metadata", new JsonObject());
    }

    private <T> T lead(TestEngine by, Function<CampaignService, Future<T>> order) {
        return get(by.loop(0).call(services -> order.apply(services.campaigns)));
    }

    @Test
    void aWholeCampaignIsToldInItsOrder() {
        // Given a campaign whose pools are drained and returned
        Host host = new Host(engine);
        Host hostElsewhere = new Host(other);
        Campaign.View campaign = campaigns.create(definition(100, 5));
        CampaignId id = campaign.campaign().id();
        Packet drained = campaigns.open(campaign, "ann", "shoe");
        for (int i = 0; i < 5; i++) {
            engine.claim(drained, "user" + i);
        }

        // When the host leads it, and orders everything twice
        IdempotencyKey key = newKey();
        for (TestEngine by : List.of(engine, other)) {
            lead(by, service -> service.raise(TestDraws.SERVICE, id, 30, key));
        }
        for (boolean paused : new boolean[] {true, false}) {
            for (TestEngine by : List.of(engine, other)) {
                lead(
                        by,
                        service ->
                                paused ? service.pause(TestDraws.SERVICE, id) : service.resume(TestDraws.SERVICE, id));
            }
        }
        Packet returned = campaigns.open(campaign, "ben", "shoe");
        engine.claim(returned, "bob");
        for (TestEngine by : List.of(engine, other)) {
            lead(by, service -> service.end(TestDraws.SERVICE, id));
        }

        // Then each fact is told once
        List<OutboxEvent> told = host.until(id.toString(), has("campaign.ended"));
        assertThat(types(told))
                .containsExactly(
                        "campaign.created",
                        "packet.sent",
                        "packet.drained",
                        "campaign.raised",
                        "campaign.paused",
                        "campaign.resumed",
                        "packet.sent",
                        "packet.expired",
                        "packet.refunded",
                        "campaign.ended");
        assertThat(told).extracting(OutboxEvent::id).doesNotHaveDuplicates();
        // with what the books have
        assertThat(data(told.get(0))).isEqualTo(expected(campaign).put("budget", 100));
        assertThat(data(told.get(3)))
                .isEqualTo(expected(campaign).put("amount", 30).put("budget", 130));
        assertThat(data(told.get(4))).isEqualTo(expected(campaign));
        assertThat(data(told.get(5))).isEqualTo(expected(campaign));
        assertThat(data(told.get(9)))
                .isEqualTo(expected(campaign).put("budget", 130).put("used", 60).put("returned", 70));
        // and whoever reads it elsewhere is told the same
        List<OutboxEvent> elsewhere = hostElsewhere.until(id.toString(), has("campaign.ended"));
        assertThat(elsewhere)
                .extracting(OutboxEvent::id)
                .isEqualTo(told.stream().map(OutboxEvent::id).toList());
        assertThat(elsewhere)
                .filteredOn(event -> !event.type().equals("packet.sent")) // a pool's end was brought forward
                .isSubsetOf(told);
    }

    @Test
    void aBudgetThatIsUsedUpToTheCentIsToldSo() {
        // Given a campaign whose one pool takes all, and is drained
        Host host = new Host(engine);
        Campaign.View campaign = campaigns.create(definition(50, 5));
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        for (int i = 0; i < 5; i++) {
            engine.claim(pool, "user" + i);
        }

        // When
        campaigns.end(campaign.campaign().id());

        // Then
        List<OutboxEvent> told = host.until(campaign.campaign().id().toString(), has("campaign.ended"));
        assertThat(data(told.get(told.size() - 1)))
                .isEqualTo(expected(campaign).put("budget", 50).put("used", 50).put("returned", 0));
        assertThat(books.longOf("select count(*) from transfer where kind = 'refund' and subject = '"
                        + campaign.campaign().id() + "'"))
                .isZero();
    }

    @Test
    void ordersThatRaceAreToldAsTheyHappened() {
        // Given
        Host host = new Host(engine);
        Campaign.View campaign = campaigns.create(definition(100, 5));
        CampaignId id = campaign.campaign().id();

        // When both servers raise, pause and resume at once
        List<Future<Campaign.View>> orders = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            int n = i;
            TestEngine by = i % 2 == 0 ? engine : other;
            orders.add(by.loop(0)
                    .call(services -> n % 3 == 0
                            ? services.campaigns.raise(TestDraws.SERVICE, id, 1 + n, newKey())
                            : n % 3 == 1
                                    ? services.campaigns.pause(TestDraws.SERVICE, id)
                                    : services.campaigns.resume(TestDraws.SERVICE, id)));
        }
        orders.forEach(order -> get(order));
        campaigns.end(id);

        // Then pauses and resumptions take turns, and each raise tells the budget that it made
        List<OutboxEvent> told = host.until(id.toString(), has("campaign.ended"));
        boolean paused = false;
        long budget = 100;
        for (OutboxEvent event : told.subList(1, told.size() - 1)) {
            if (event.type().equals("campaign.raised")) {
                budget += data(event).getLong("amount");
                assertThat(data(event).getLong("budget")).isEqualTo(budget);
            } else {
                assertThat(event.type()).isEqualTo(paused ? "campaign.resumed" : "campaign.paused");
                paused = !paused;
            }
        }
        assertThat(types(told)).filteredOn("campaign.raised"::equals).hasSize(10);
        assertThat(data(told.get(told.size() - 1)).getLong("returned")).isEqualTo(budget);
    }

    @Test
    void aWebhookThatWaitedForTheLastOneIsOneTooMany() throws SQLException {
        // Given one less than there may be, and another one that is being made
        books.execute("insert into webhook (id, url, types, batch, position, low)"
                + " select gen_random_uuid(), 'https://h', array['x'], 1, '', 0 from generate_series(1, 49)");
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select pg_advisory_xact_lock(hashtextextended('webhooks', 0))");
            overlap.first("insert into webhook (id, url, types, batch, position, low)"
                    + " values (gen_random_uuid(), 'https://h', array['x'], 1, '', 0)");

            // When
            Webhook.Terms terms = new Webhook.Terms("http://127.0.0.1:1/", List.of("packet.expired"), 1);
            Future<Webhooks.Made> second = engine.loop(0)
                    .call(services -> engine.engine().outbox.webhooks.create(TestDraws.SERVICE, terms, null, newKey()));
            overlap.awaitMeeting(second::isComplete);
            overlap.commit();

            // Then
            TestCampaigns.assertRefused(Refusal.INVALID, () -> get(second));
        }
        books.execute("delete from webhook");
    }

    @Test
    void aSecretThatWaitedForTheLastOneIsOneTooMany() throws SQLException {
        // Given four secrets, and a fifth that is being made
        String id = UUID.randomUUID().toString();
        String makes = "insert into webhook_secret (id, webhook, secret, ends_at) select gen_random_uuid(), '" + id
                + "', 's', now() + interval '1 hour' from generate_series(1, ";
        books.execute("insert into webhook (id, url, types, batch, position, low) values ('" + id
                + "', 'https://h', array['x'], 1, '', 0); " + makes + "4)");
        try (Overlap overlap = new Overlap(servers)) {
            overlap.first("select true from webhook for update");
            overlap.first(makes + "1)");

            // When
            Future<Webhooks.Made> second = engine.loop(0)
                    .call(services ->
                            engine.engine().outbox.webhooks.rotate(TestDraws.SERVICE, UUID.fromString(id), newKey()));
            overlap.awaitMeeting(second::isComplete);
            overlap.commit();

            // Then
            TestCampaigns.assertRefused(Refusal.INVALID, () -> get(second));
        }
        books.execute("delete from webhook");
    }

    @Test
    void manyAttemptsAreTrimmedAlsoWithoutStatistics() {
        // Given as many as are kept of as many webhooks as there can be, and one more of one
        books.execute("""
                insert into webhook (id, url, types, batch, position, low, disabled_at, reason)
                select gen_random_uuid(), 'http://unused', '{packet.sent}', 1, 'none', 0, now(), 'paused' from generate_series(1, 50);
                insert into webhook_delivery (webhook, message, after, events, millis)
                select w.id, 'msg', 'none', 1, 1 from webhook as w, generate_series(1, 1000) where w.url = 'http://unused';
                insert into webhook_delivery (webhook, message, after, events, millis)
                select id, 'the last', 'none', 1, 1 from webhook where url = 'http://unused' limit 1;
                """);

        // When
        get(engine.engine().outbox.trim());

        // Then
        assertThat(books.longOf("select count(*) from webhook_delivery where after = 'none'"))
                .isEqualTo(50_000);
        assertThat(books.longOf("select count(*) from webhook_delivery where message = 'the last'"))
                .isOne();
        books.execute("delete from webhook where url = 'http://unused'");
    }
}
