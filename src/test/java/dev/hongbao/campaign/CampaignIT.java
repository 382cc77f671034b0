package dev.hongbao.campaign;

import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign.View.Status;
import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A campaign from its budget to its end: where every cent goes, who may open its pools, when and how often, and who may claim. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CampaignIT {
    /** Each has a statement of its own under way: so many openings meet in Postgres. */
    private static final int LOOPS = 8;

    private TestServers servers;
    private Books books;
    private TestEngine engine;
    private TestCampaigns campaigns;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, LOOPS, Map.of());
        campaigns = new TestCampaigns(engine);
        engine.deposit("shop", 1_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertReconciled();
    }

    private Campaign.View create(int loop, JsonObject body, IdempotencyKey key) {
        return get(engine.loop(loop).call(services -> services.campaigns.create(TestDraws.SERVICE, body, key)));
    }

    private Campaign.View raise(int loop, CampaignId id, long amount, IdempotencyKey key) {
        return get(engine.loop(loop).call(services -> services.campaigns.raise(TestDraws.SERVICE, id, amount, key)));
    }

    private Packet open(int loop, Caller caller, CampaignId id, String product, GroupId group, IdempotencyKey key) {
        return get(engine.loop(loop)
                .call(services -> services.campaigns.open(caller, id, product, group, Metadata.NONE, key)));
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
        Campaign.View made = create(0, body, key);

        // Then
        assertThat(create(1, body, key).campaign().id())
                .isEqualTo(made.campaign().id());
        assertThat(engine.balance("shop")).isEqualTo(before - 100);
        assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> create(0, definition(101, 5), key));
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> campaigns.create(definition(9_000_000, 5)));
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
            raise(i, id, 49, key);
        }

        // Then one more can be opened, and no other
        campaigns.open(campaign, "ann", "shoe");
        assertThat(campaigns.view(id))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(550L, 0L, 0L);
        assertRefused(Refusal.BUDGET_SPENT, () -> campaigns.open(campaign, "bob", "shoe"));
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> raise(0, id, 90_000_000, newKey()));
        assertRefused(Refusal.BALANCE_LIMIT, () -> raise(0, id, 99_999_999_999_999L, newKey()));
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

    @Test
    void anOpeningIsIdempotentAlsoWhenItsAmountIsDrawn() {
        // Given
        JsonObject body = definition(10_000, 5);
        body.getJsonObject("pool")
                .put("split", "double-mean")
                .put("amount", new JsonObject().put("from", 50).put("to", 900));
        Campaign.View campaign = campaigns.create(body);
        CampaignId id = campaign.campaign().id();
        IdempotencyKey key = newKey();

        // When
        List<Packet> opened = IntStream.range(0, 4)
                .mapToObj(i -> open(i, member("ann"), id, "shoe", GROUP, key))
                .toList();

        // Then
        assertThat(opened.stream().map(Packet::id).distinct()).hasSize(1);
        assertThat(opened.get(0).amount()).isBetween(50L, 900L);
        assertThat(campaigns.view(id).left()).isEqualTo(10_000 - opened.get(0).amount());
        assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> open(0, member("ann"), id, "hat", GROUP, key));
    }

    /** Both are judged by one statement. */
    @Test
    void anOpeningThatIsRefusedSpendsNothing() throws Exception {
        // Given a budget for two pools, the first of which is being opened
        Campaign.View campaign = campaigns.create(definition(100, 5));
        Future<Packet> first;
        Future<Packet> refused;
        Future<Packet> second;
        try (Connection locked = TestDatabase.lockRows(
                servers.postgresOwnerUrl(),
                "campaign where id = '" + campaign.campaign().id() + "'")) {
            first = campaigns.opening(0, campaign, "ann", "shoe");

            // When a frozen user and another one open the next one
            books.execute("insert into restriction (scope, subject, kind, placed, actor, reason)"
                    + " values ('user', 'fred', 'frozen', true, 'backend', 'a test')");
            refused = campaigns.opening(0, campaign, "fred", "shoe");
            second = campaigns.opening(0, campaign, "bob", "shoe");
            assertThat(locked.isClosed()).isFalse();
        }

        // Then
        assertThat(get(first).count()).isEqualTo(5);
        assertRefused(Refusal.FROZEN, () -> get(refused));
        assertThat(get(second).count()).isEqualTo(5);
    }

    @Test
    void whoMayOpenIsJudgedWhereItCounts() {
        // Given
        JsonObject body = definition(10_000, 5)
                .put(
                        "opening",
                        new JsonObject()
                                .put("groups", new JsonArray().add("family"))
                                .put("users", new JsonArray().add("ann").add("ben"))
                                .put("onePerProduct", true)
                                .put("poolsADay", 2));
        Campaign.View campaign = campaigns.create(body);

        // When the same user opens several at once, of one product
        List<Future<Packet>> openings = IntStream.range(0, 8)
                .mapToObj(i -> campaigns.opening(i, campaign, "ann", "shoe"))
                .toList();
        get(Future.join(openings).otherwiseEmpty());

        // Then there is one, and each rule refuses for itself
        assertThat(openings.stream().filter(Future::succeeded)).hasSize(1);
        assertRefused(Refusal.ALREADY_OPENED, () -> campaigns.open(campaign, "ann", "shoe"));
        campaigns.open(campaign, "ann", "hat");
        assertRefused(Refusal.DAILY_LIMIT_REACHED, () -> campaigns.open(campaign, "ann", "coat"));
        campaigns.open(campaign, "ben", "shoe");
        assertRefused(Refusal.NOT_ELIGIBLE, () -> campaigns.open(campaign, "eve", "shoe"));
        GroupId work = new GroupId("work");
        Caller elsewhere = new Caller(new UserId("ben"), Set.of(work), Role.USER, Instant.MAX);
        CampaignId id = campaign.campaign().id();
        assertRefused(Refusal.NOT_ELIGIBLE, () -> open(0, elsewhere, id, "hat", work, newKey()));
        assertRefused(Refusal.NOT_FOUND, () -> open(0, member("ben"), CampaignId.create(), "hat", GROUP, newKey()));
    }

    @Test
    void poolsAreOpenedInTheWindowOnlyAndNotWhileItIsPaused() {
        // Given one that opens later, and one that is open
        JsonObject later = definition(100, 5)
                .put("opensAt", Instant.now().plusSeconds(1800).toString());
        Campaign.View planned = campaigns.create(later);
        Campaign.View open = campaigns.create(definition(100, 5));
        CampaignId id = open.campaign().id();
        Packet pool = campaigns.open(open, "ann", "shoe");

        // Then
        assertThat(planned.status()).isEqualTo(Status.PLANNED);
        assertRefused(Refusal.NOT_OPEN_YET, () -> campaigns.open(planned, "ann", "shoe"));

        // When it is paused
        Campaign.View paused = get(engine.loop(0).call(services -> services.campaigns.pause(TestDraws.SERVICE, id)));

        // Then no pool is opened, and the open one goes on
        assertThat(paused.status()).isEqualTo(Status.PAUSED);
        assertRefused(Refusal.CAMPAIGN_PAUSED, () -> campaigns.open(open, "ben", "shoe"));
        assertThat(engine.claim(pool, "bob").kind()).isEqualTo(Kind.CLAIMED);

        // When it is resumed
        get(engine.loop(0).call(services -> services.campaigns.resume(TestDraws.SERVICE, id)));
        campaigns.open(open, "ben", "shoe");

        // When it has ended
        campaigns.end(id);
        assertRefused(Refusal.CAMPAIGN_OVER, () -> campaigns.open(open, "ben", "hat"));
        campaigns.end(planned.campaign().id());
        campaigns.awaitClosed(planned);
        campaigns.awaitClosed(open);
        assertThat(engine.claim(pool, "late").kind()).isEqualTo(Kind.EXPIRED);
    }

    @Test
    void aPoolLivesAtMostUntilItsCampaignEnds() {
        // Given a campaign that is shorter than its pools' lives
        JsonObject body =
                definition(100, 5).put("endsAt", Instant.now().plusSeconds(60).toString());
        Campaign.View campaign = campaigns.create(body);

        // When
        Packet pool = campaigns.open(campaign, "ann", "shoe");

        // Then
        assertThat(pool.expiresAt()).isAfter(Instant.now()).isBeforeOrEqualTo(campaign.endsAt());
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
