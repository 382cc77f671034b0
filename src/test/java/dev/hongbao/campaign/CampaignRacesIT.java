package dev.hongbao.campaign;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestCampaigns.limited;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign.View.Status;
import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a host orders while its users open and claim, on two servers: no cent is lost, and no order comes too late unnoticed. */
class CampaignRacesIT extends TwoEngines {
    private static final Duration IN_TIME = Duration.ofSeconds(20);
    private static final int USERS = 200;

    private TestCampaigns campaigns;

    @BeforeAll
    void make() {
        campaigns = new TestCampaigns(engine);
    }

    private TestEngine server(int i) {
        return i % 2 == 0 ? engine : other;
    }

    private Future<Campaign.View> raising(TestEngine by, CampaignId id, long amount, IdempotencyKey key) {
        return by.loop(0).call(services -> services.campaigns.raise(TestDraws.SERVICE, id, amount, key));
    }

    private Packet open(TestEngine by, CampaignId id, IdempotencyKey key) {
        return get(by.loop(0)
                .call(services -> services.campaigns.open(member("ann"), id, "shoe", GROUP, Metadata.NONE, key)));
    }

    private Future<Campaign.View> pausing(TestEngine by, CampaignId id, boolean paused) {
        return by.loop(0)
                .call(services -> paused
                        ? services.campaigns.pause(TestDraws.SERVICE, id)
                        : services.campaigns.resume(TestDraws.SERVICE, id));
    }

    private Future<Campaign.View> ending(TestEngine by, CampaignId id) {
        return by.loop(0).call(services -> services.campaigns.end(TestDraws.SERVICE, id));
    }

    private static List<Refusal> refusals(List<? extends Future<?>> answers) {
        return answers.stream()
                .filter(Future::failed)
                .map(answer -> ((RefusedException) answer.cause()).refusal())
                .toList();
    }

    @Test
    void anEndInTheMiddleOfARaceLeavesNoCentBehind() {
        // Given three pools, and a limit
        long before = engine.balance("shop");
        Campaign.View campaign = campaigns.create(limited(10_007, 300, 2, 0, 1));
        CampaignId id = campaign.campaign().id();
        List<Packet> pools = IntStream.range(0, 3)
                .mapToObj(i -> campaigns.open(campaign, "opener" + i, "product" + i))
                .toList();

        // When everybody claims on each of them on two servers, and in the middle both are told to end it
        List<Future<ClaimOutcome>> claims = new ArrayList<>();
        List<Future<Campaign.View>> ends = new ArrayList<>();
        for (int user = 0; user < USERS; user++) {
            for (Packet pool : pools) {
                claims.add(server(user).claim(user / 2 % 2, pool, "racer" + user));
            }
            if (user == USERS / 2) {
                get(claims.get(0));
                ends.add(ending(engine, id));
                ends.add(ending(other, id));
            }
        }
        ends.forEach(end -> get(end));
        claims.forEach(claim -> get(claim));

        // Then who was given a share has it, nobody has three, and the rest is the host's
        assertThat(claims.stream().map(Future::result).map(ClaimOutcome::kind))
                .isSubsetOf(Kind.CLAIMED, Kind.LIMITED, Kind.EXPIRED);
        campaigns.awaitClosed(campaign);
        long won = claims.stream()
                .filter(claim -> claim.result().kind() == Kind.CLAIMED)
                .mapToLong(claim -> claim.result().wonClaim().amount())
                .sum();
        assertThat(won).isPositive();
        assertThat(engine.balance("shop")).isEqualTo(before - won);
        assertThat(campaigns.view(id))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(10_007L, 0L, 10_007L - won);
        assertThat(books.longOf("select coalesce(max(n), 0) from (select count(*) as n from claim as c join pool as o"
                        + " on o.packet = c.packet where o.campaign = '" + id + "' group by c.user_id) as u"))
                .isLessThanOrEqualTo(2);
    }

    @Test
    void nobodyOpensAPoolOnceThePauseIsAnswered() {
        // Given
        Campaign.View campaign = campaigns.create(definition(100_000, 5));
        CampaignId id = campaign.campaign().id();

        // When it is paused while users open pools on both servers
        List<Future<Packet>> openings = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            openings.add(new TestCampaigns(server(i)).opening(i / 2 % 2, campaign, "early" + i, "shoe"));
        }
        get(openings.get(0));
        Campaign.View paused = get(pausing(other, id, true));
        long opened = books.longOf("select count(*) from pool where campaign = '" + id + "'");

        // Then no opening is later than the answer, on any server
        List<Future<Packet>> late = IntStream.range(0, 20)
                .mapToObj(i -> new TestCampaigns(server(i)).opening(i / 2 % 2, campaign, "late" + i, "shoe"))
                .toList();
        get(Future.join(late).otherwiseEmpty());
        get(Future.join(openings).otherwiseEmpty());
        assertThat(paused.status()).isEqualTo(Status.PAUSED);
        assertThat(refusals(late)).hasSize(20).allMatch(Refusal.CAMPAIGN_PAUSED::equals);
        assertThat(refusals(openings)).allMatch(Refusal.CAMPAIGN_PAUSED::equals);
        assertThat(books.longOf("select count(*) from pool where campaign = '" + id + "'"))
                .isEqualTo(opened)
                .isEqualTo(openings.stream().filter(Future::succeeded).count());
        campaigns.end(id);
        campaigns.awaitClosed(campaign);
    }

    @Test
    void anOrderThatWaitedForTheEndIsTooLate() throws Exception {
        // Given a campaign that somebody is ending
        Campaign.View campaign = campaigns.create(definition(100, 5));
        CampaignId id = campaign.campaign().id();
        List<Future<Campaign.View>> orders;
        Future<Packet> opening;
        try (Connection ending = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = ending.createStatement()) {
            ending.setAutoCommit(false);
            statement.execute("select end_campaign('" + id + "')");

            // When it is paused, resumed and raised, and a pool is opened, and all wait for the end
            orders = List.of(pausing(engine, id, true), pausing(other, id, false), raising(engine, id, 10, newKey()));
            opening = campaigns.opening(0, campaign, "ann", "shoe");
            eventually(
                    IN_TIME,
                    () -> assertThat(books.longOf(
                                    "select count(*) from pg_locks as l join pg_stat_activity as a on a.pid = l.pid"
                                            + " where not l.granted and a.datname = current_database()"))
                            .isEqualTo(4));
            ending.commit();
        }
        get(Future.join(List.of(orders.get(0), orders.get(1), orders.get(2), opening))
                .otherwiseEmpty());

        // Then each is told that it came too late
        assertThat(refusals(orders)).hasSize(3).allMatch(Refusal.CAMPAIGN_OVER::equals);
        assertThat(refusals(List.of(opening))).containsExactly(Refusal.CAMPAIGN_OVER);
        campaigns.awaitClosed(campaign);
        assertThat(campaigns.view(id).pausedAt()).isNull();
    }

    @Test
    void aCampaignThatNobodyEndsEndsByItself() {
        // Given
        Campaign.View campaign = campaigns.create(definition(100, 5));
        CampaignId id = campaign.campaign().id();
        IdempotencyKey key = newKey();
        Packet pool = open(engine, id, key);
        assertThat(engine.claim(pool, "bob").kind()).isEqualTo(Kind.CLAIMED);

        // When its time is over, and its pool's with it
        books.execute("update campaign set ends_at = now() where id = '" + id + "'");
        books.expire(pool);
        campaigns.awaitClosed(campaign);

        // Then the rest is the host's, nobody opens and claims any more, and who opened is told the same again
        assertThat(campaigns.view(id))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(100L, 0L, 90L);
        assertRefused(Refusal.CAMPAIGN_OVER, () -> campaigns.open(campaign, "ben", "shoe"));
        assertThat(engine.claim(pool, "carl").kind()).isEqualTo(Kind.EXPIRED);
        assertThat(open(other, id, key).id()).isEqualTo(pool.id());
    }

    @Test
    void aKeyIsOneOrders() {
        // Given
        Campaign.View one = campaigns.create(definition(100, 5));
        Campaign.View two = campaigns.create(definition(100, 5));
        IdempotencyKey key = newKey();
        get(raising(engine, one.campaign().id(), 10, key));

        // Then another amount and another campaign are other orders
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED,
                () -> get(raising(other, one.campaign().id(), 11, key)));
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED,
                () -> get(raising(other, two.campaign().id(), 10, key)));
        open(engine, one.campaign().id(), key);
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED, () -> open(other, two.campaign().id(), key));
        assertThat(campaigns.view(two.campaign().id()))
                .extracting(Campaign.View::budget, Campaign.View::left, Campaign.View::returned)
                .containsExactly(100L, 100L, 0L);
    }

    @Test
    void theEndOfACampaignWaitsForNoPool() throws Exception {
        // Given pools of more products than a page of the report has, and somebody who holds one
        int pools = 800;
        long before = engine.balance("shop");
        JsonObject body = definition(10L * pools + 1, 1);
        Campaign.View campaign = campaigns.create(body);
        CampaignId id = campaign.campaign().id();
        Packet held = campaigns.open(campaign, "opener", "shoe");
        for (int from = 1; from < pools; from += 250) {
            int first = from;
            get(Future.all(IntStream.range(first, Math.min(pools, first + 250))
                    .mapToObj(
                            i -> new TestCampaigns(server(i)).opening(i % 2, campaign, "opener" + i, "sku-" + i % 600))
                    .toList()));
        }
        try (Connection holding =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "packet where id = '" + held.id() + "'")) {
            // When it is ended, then nobody opens a pool any more
            assertThat(campaigns.end(id).status()).isEqualTo(Status.ENDING);
            assertRefused(Refusal.CAMPAIGN_OVER, () -> campaigns.open(campaign, "late", "shoe"));
            holding.rollback();
        }

        // Then all end, every cent is back, and the pages of the report tell each product once
        campaigns.awaitClosed(campaign);
        assertThat(engine.balance("shop")).isEqualTo(before);
        List<CampaignReport> report = campaigns.report(id);
        assertThat(report).hasSize(601).allMatch(line -> line.returned() == line.amount());
        assertThat(report).extracting(CampaignReport::product).doesNotHaveDuplicates();
        assertThat(report.stream().mapToLong(CampaignReport::pools).sum()).isEqualTo(pools);
    }
}
