package dev.hongbao.campaign;

import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A campaign from its budget to its end: where every cent goes, and who may claim. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CampaignIT {
    private TestServers servers;
    private Books books;
    private TestEngine engine;
    private TestCampaigns campaigns;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 2, Map.of());
        campaigns = new TestCampaigns(engine);
        engine.deposit("shop", 1_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertReconciled();
    }

    @Test
    void aPoolIsAPacketThatTheCampaignPays() {
        // Given
        long before = engine.balance("shop");
        Campaign.View campaign = campaigns.create(definition(100, 5));

        // When
        Packet pool = campaigns.open(campaign, "opener", "shoe-1");

        // Then the host has paid, the user has not, and the packet says whose it is
        assertThat(engine.balance("shop")).isEqualTo(before - 100);
        assertThat(engine.balance("opener")).isZero();
        assertThat(pool.sender()).isEqualTo(new UserId(campaign.campaign().id().toString()));
        assertThat(pool.shard()).isEqualTo(campaign.campaign().shard());
        assertThat(pool.pool()).satisfies(terms -> {
            assertThat(terms.product()).isEqualTo("shoe-1");
            assertThat(terms.opener()).isEqualTo(new UserId("opener"));
        });

        // When it is claimed, by another server's view of it too
        assertThat(engine.claim(pool, "claimer").wonClaim().amount()).isEqualTo(10);
        assertThat(engine.balance("claimer")).isEqualTo(10);
        Campaign.View now = campaigns.view(campaign.campaign().id());
        assertThat(now)
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(100L, 50L, 0L);

        // When it expires
        books.expire(pool);
        books.awaitClosed(pool);

        // Then what is left of it is the campaign's again
        assertThat(campaigns.view(campaign.campaign().id()).left()).isEqualTo(90);
        assertThat(campaigns.report(campaign.campaign().id())).singleElement().satisfies(line -> {
            assertThat(line.pools()).isEqualTo(1);
            assertThat(line.claims()).isEqualTo(1);
            assertThat(line)
                    .extracting(CampaignReport::amount, CampaignReport::claimed, CampaignReport::returned)
                    .containsExactly(50L, 10L, 40L);
        });

        // When the campaign ends, twice
        campaigns.end(campaign.campaign().id());
        campaigns.end(campaign.campaign().id());
        campaigns.awaitClosed(campaign);
        campaigns.end(campaign.campaign().id());

        // Then the rest is the host's, once
        assertThat(engine.balance("shop")).isEqualTo(before - 10);
        assertThat(campaigns.view(campaign.campaign().id()))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(100L, 0L, 90L);
        assertThat(get(engine.engine().wallets.transfers(new UserId("shop"), null, null, null, 2))
                        .items())
                .extracting(entry -> entry.kind() + " " + entry.amount() + " "
                        + entry.subject().campaign())
                .containsExactly(
                        TransferKind.REFUND + " 90 " + campaign.campaign().id(),
                        TransferKind.FUND + " 100 " + campaign.campaign().id());
    }

    @Test
    void makingOneIsIdempotentAndNeedsTheMoney() {
        // Given
        long before = engine.balance("shop");
        IdempotencyKey key = newKey();
        JsonObject body = definition(100, 5);

        // When
        List<Campaign.View> made = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            made.add(get(engine.loop(i).call(services -> services.campaigns.create(TestDraws.SERVICE, body, key))));
        }

        // Then
        assertThat(made.get(0).campaign().id()).isEqualTo(made.get(1).campaign().id());
        assertThat(engine.balance("shop")).isEqualTo(before - 100);
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED,
                () -> get(engine.loop(0)
                        .call(services -> services.campaigns.create(TestDraws.SERVICE, definition(101, 5), key))));
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> campaigns.create(definition(9_000_000, 5)));
        assertRefused(
                Refusal.NOT_ELIGIBLE,
                () -> get(engine.loop(0)
                        .call(services -> services.campaigns.create(member("shop"), definition(100, 5), newKey()))));
    }

    @Test
    void theBudgetIsSpentToTheCentAndCanBeRaised() {
        // Given a budget of ten pools, and a cent
        Campaign.View campaign = campaigns.create(definition(501, 5));
        CampaignId id = campaign.campaign().id();

        // When thirty users open one at once
        List<Future<Packet>> openings = IntStream.range(0, 30)
                .mapToObj(i -> campaigns.opening(i, campaign, "user" + i, "shoe"))
                .toList();
        get(Future.join(openings).otherwiseEmpty());

        // Then ten have one
        assertThat(openings.stream().filter(Future::succeeded)).hasSize(10);
        assertThat(openings.stream().filter(Future::failed).map(Future::cause))
                .allSatisfy(cause ->
                        assertThat(((RefusedException) cause).refusal()).isEqualTo(Refusal.BUDGET_SPENT));
        assertThat(campaigns.view(id).left()).isEqualTo(1);

        // When the host puts in what is missing, twice under one key
        IdempotencyKey key = newKey();
        for (int i = 0; i < 2; i++) {
            get(engine.loop(i).call(services -> services.campaigns.raise(TestDraws.SERVICE, id, 49, key)));
        }

        // Then one more can be opened, and no other
        campaigns.open(campaign, "ann", "shoe");
        assertThat(campaigns.view(id))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(550L, 0L, 0L);
        assertRefused(Refusal.BUDGET_SPENT, () -> campaigns.open(campaign, "bob", "shoe"));
        assertRefused(
                Refusal.INSUFFICIENT_FUNDS,
                () -> get(engine.loop(0)
                        .call(services -> services.campaigns.raise(TestDraws.SERVICE, id, 90_000_000, newKey()))));
        assertRefused(
                Refusal.BALANCE_LIMIT,
                () -> get(engine.loop(0)
                        .call(services ->
                                services.campaigns.raise(TestDraws.SERVICE, id, 99_999_999_999_999L, newKey()))));
    }

    @Test
    void aReportOfManyProductsIsReadInPages() {
        // Given more products than a page has
        int products = 501;
        Campaign.View campaign = campaigns.create(definition(10L * products, 1));

        // When
        IntStream.range(0, products).forEach(i -> campaigns.open(campaign, "opener", "product-" + i));

        // Then each is told once
        assertThat(campaigns.report(campaign.campaign().id()))
                .hasSize(products)
                .allMatch(line -> line.pools() == 1 && line.amount() == 10)
                .extracting(CampaignReport::product)
                .doesNotHaveDuplicates();
    }

    @Test
    void aListedUserOrATokenMayClaim() {
        // Given
        JsonObject body = definition(100, 5)
                .put(
                        "claiming",
                        new JsonObject()
                                .put("users", new JsonArray().add("ann").add("ben"))
                                .put(
                                        "token",
                                        new JsonObject()
                                                .put("name", "tier")
                                                .put("values", new JsonArray().add("gold"))));
        Packet pool = campaigns.open(campaigns.create(body), "opener", "shoe");

        // Then
        assertThat(claimAs(pool, "ann", Map.of("tier", "gold"))).isEqualTo(Kind.CLAIMED);
        assertThat(claimAs(pool, "ben", Map.of("tier", "silver"))).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(claimAs(pool, "ben", Map.of())).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(claimAs(pool, "eve", Map.of("tier", "gold"))).isEqualTo(Kind.NOT_ELIGIBLE);
    }

    private Kind claimAs(Packet pool, String user, Map<String, String> traits) {
        Caller caller = new Caller(new UserId(user), Set.of(GROUP), Role.USER, Instant.MAX, traits, null);
        return get(engine.claim(0, caller, pool.id())).kind();
    }

    /** Java counts claims of a day, and Postgres pools. */
    @Test
    void theDayOfEachZoneIsTheSameInJavaAndInPostgres() {
        List<String> zones = ZoneId.getAvailableZoneIds().stream()
                .filter(zone -> Campaign.Definition.hasSameDaysInPostgres(ZoneId.of(zone)))
                .sorted()
                .toList();
        assertThat(zones).contains("UTC", "Asia/Shanghai", "Europe/Berlin", "PRC", "Singapore");
        for (String moment : List.of("2020-07-01T22:30:00Z", "2020-01-01T22:30:00Z", "2020-04-10T04:30:00Z")) {
            List<String> days = books.strings("select z.name || ' ' || local_day('" + moment + "', z.name)"
                    + " from pg_timezone_names as z where z.name in ('" + String.join("', '", zones)
                    + "') order by z.name collate \"C\"");
            assertThat(days)
                    .hasSizeGreaterThan(300)
                    .allSatisfy(day -> assertThat(day)
                            .isEqualTo(day.split(" ")[0] + " "
                                    + Instant.parse(moment)
                                            .atZone(ZoneId.of(day.split(" ")[0]))
                                            .toLocalDate()
                                            .toEpochDay()));
        }
    }
}
