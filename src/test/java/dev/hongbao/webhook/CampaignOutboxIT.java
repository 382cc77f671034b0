package dev.hongbao.webhook;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.CampaignService;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.IdempotencyKey;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the host is told of its campaigns: each fact once, in its order, with the totals of the books. */
class CampaignOutboxIT extends TwoEngines {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Set<String> ALL = Set.copyOf(Outbox.TYPES);

    private TestCampaigns campaigns;

    @BeforeAll
    void make() {
        campaigns = new TestCampaigns(engine);
    }

    private static final class Host {
        private final OutboxReader outbox;
        private final List<OutboxEvent> events = new ArrayList<>();
        private OutboxCursor at;

        Host(TestEngine engine) {
            this.outbox = engine.engine().outbox.reader;
            this.at = get(outbox.oldest());
        }

        /** All that was told of something, once that is among it. */
        List<OutboxEvent> until(CampaignId about, String type) {
            eventually(SOON, () -> {
                OutboxPage page = get(outbox.read(at, ALL, 100));
                at = page.next();
                events.addAll(page.events());
                assertThat(of(about)).extracting(OutboxEvent::type).contains(type);
            });
            return of(about);
        }

        private List<OutboxEvent> of(CampaignId about) {
            return events.stream()
                    .filter(event -> event.data().contains("\"" + about + "\""))
                    .toList();
        }
    }

    private static List<String> types(List<OutboxEvent> events) {
        return events.stream().map(OutboxEvent::type).toList();
    }

    private static JsonObject data(OutboxEvent event) {
        return new JsonObject(event.data());
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
        List<OutboxEvent> told = new Host(engine).until(id, "campaign.ended");
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
        List<OutboxEvent> elsewhere = new Host(other).until(id, "campaign.ended");
        assertThat(elsewhere)
                .extracting(OutboxEvent::id)
                .isEqualTo(told.stream().map(OutboxEvent::id).toList());
        assertThat(elsewhere)
                .filteredOn(event -> !event.type().equals("packet.sent")) // a pool's end was brought forward
                .isSubsetOf(told);
    }

    @Test
    void anEndThatWasLostBeforeItWasCommittedIsToldOnce() throws Exception {
        // Given a campaign that nobody has opened a pool of
        Campaign.View campaign = campaigns.create(definition(100, 5));
        CampaignId id = campaign.campaign().id();

        // When a server is killed between its end and the commit
        try (Connection killed = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = killed.createStatement()) {
            killed.setAutoCommit(false);
            statement.execute("select end_campaign('" + id + "')");
            statement.execute(
                    "select * from close_campaigns(array[" + campaign.campaign().shard() + "]::smallint[])");
            killed.rollback();
        }

        // Then nothing was told but how it began
        Host host = new Host(engine);
        assertThat(types(host.until(id, "campaign.created"))).containsExactly("campaign.created");

        // When it is ended again, then that is told, with all that went back
        campaigns.end(id);
        List<OutboxEvent> told = host.until(id, "campaign.ended");
        assertThat(types(told)).containsExactly("campaign.created", "campaign.ended");
        assertThat(data(told.get(1)).getLong("returned")).isEqualTo(100);
        assertThat(data(told.get(1)).getLong("used")).isZero();
    }

    @Test
    void aBudgetThatIsUsedUpToTheCentIsToldSo() {
        // Given a campaign whose one pool takes all, and is drained
        Campaign.View campaign = campaigns.create(definition(50, 5));
        Packet pool = campaigns.open(campaign, "ann", "shoe");
        for (int i = 0; i < 5; i++) {
            engine.claim(pool, "user" + i);
        }

        // When
        campaigns.end(campaign.campaign().id());

        // Then
        List<OutboxEvent> told = new Host(engine).until(campaign.campaign().id(), "campaign.ended");
        assertThat(data(told.get(told.size() - 1)))
                .isEqualTo(expected(campaign).put("budget", 50).put("used", 50).put("returned", 0));
        assertThat(books.longOf("select count(*) from transfer where kind = 'refund' and subject = '"
                        + campaign.campaign().id() + "'"))
                .isZero();
    }

    @Test
    void ordersThatRaceAreToldAsTheyHappened() {
        // Given
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
        List<OutboxEvent> told = new Host(engine).until(id, "campaign.ended");
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
}
