package dev.hongbao.campaign;

import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign.View.Status;
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
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who may open pools of a campaign, when, and how often: judged in Postgres, under the campaign's lock. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CampaignOpeningIT {
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
                .mapToObj(i -> get(engine.loop(i)
                        .call(services ->
                                services.campaigns.open(member("ann"), id, "shoe", GROUP, Metadata.NONE, key))))
                .toList();

        // Then
        assertThat(opened.stream().map(Packet::id).distinct()).hasSize(1);
        assertThat(opened.get(0).amount()).isBetween(50L, 900L);
        assertThat(campaigns.view(id).left()).isEqualTo(10_000 - opened.get(0).amount());
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED,
                () -> get(engine.loop(0)
                        .call(services ->
                                services.campaigns.open(member("ann"), id, "hat", GROUP, Metadata.NONE, key))));
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
                    + " values ('user', 'eve', 'frozen', true, 'backend', 'a test')");
            refused = campaigns.opening(0, campaign, "eve", "shoe");
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
        Caller elsewhere = new Caller(new UserId("ben"), Set.of(new GroupId("work")), Role.USER, Instant.MAX);
        assertRefused(
                Refusal.NOT_ELIGIBLE,
                () -> get(engine.loop(0)
                        .call(services -> services.campaigns.open(
                                elsewhere,
                                campaign.campaign().id(),
                                "hat",
                                new GroupId("work"),
                                Metadata.NONE,
                                newKey()))));
        assertRefused(
                Refusal.NOT_FOUND,
                () -> get(engine.loop(0)
                        .call(services -> services.campaigns.open(
                                member("ben"), CampaignId.create(), "hat", GROUP, Metadata.NONE, newKey()))));
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
        assertRefused(
                Refusal.CAMPAIGN_OVER,
                () -> get(engine.loop(0).call(services -> services.campaigns.pause(TestDraws.SERVICE, id))));
        assertRefused(
                Refusal.CAMPAIGN_OVER,
                () -> get(
                        engine.loop(0).call(services -> services.campaigns.raise(TestDraws.SERVICE, id, 1, newKey()))));
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
}
