package dev.hongbao.campaign;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.Eventually.eventuallyGet;
import static dev.hongbao.testing.TestCampaigns.limited;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.ShardScript;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TwoEngines;
import java.net.URI;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** How many shares of a campaign one user has: decided together with the slot, whoever races, whatever Redis loses. */
class CampaignLimitsIT extends TwoEngines {
    private static final Duration IN_TIME = Duration.ofSeconds(15);

    private TestCampaigns campaigns;

    @BeforeAll
    void make() {
        campaigns = new TestCampaigns(engine);
    }

    /** But for gus, whose days are moved by hand: then he has more on one day than the campaign allows, and the audit says so. */
    @Override
    protected void assertBooks() {
        assertThat(books.audited()).allMatch(line -> line.contains(" user gus: 2 claims on the 1 days"));
    }

    @Test
    void whatABatchGivesOnOnePacketCountsOnItsNext() {
        // Given
        Campaign.View campaign = campaigns.create(limited(10_000, 10, 2, 0, 1));
        Packet one = campaigns.open(campaign, "ann", "shoe");
        Packet two = campaigns.open(campaign, "ben", "hat");
        Packet three = campaigns.open(campaign, "cat", "coat");
        List<String> keys = List.of(
                "journal",
                "p:" + one.id(),
                "p:" + two.id(),
                "p:" + three.id(),
                "c:" + campaign.campaign().id());

        // When one call has the same user on three pools, and another user twice on one
        String pools = one.id() + " 10 2 5 2 0 1 20000 shoe dan eve "
                + two.id() + " 10 1 5 2 0 1 20000 hat dan "
                + three.id() + " 10 3 5 2 0 1 20000 coat dan eve eve";
        String outcomes =
                new ShardScript(servers).call(one.shard(), "claim", keys, (Object[]) ("1000 3 " + pools).split(" "));

        // Then
        assertThat(outcomes).isEqualTo("+0 +1 +0 total +0 =0");
        eventually(
                IN_TIME,
                () -> assertThat(books.longOf("select count(*) from claim where user_id in ('dan', 'eve')"))
                        .isEqualTo(4));
    }

    @Test
    void aDayBeginsAnewAndNeverGoesBack() {
        // Given a user who has had today's share
        Campaign.View campaign = campaigns.create(limited(10_000, 10, 0, 1, 0));
        List<Packet> pools = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            pools.add(campaigns.open(campaign, "opener" + i, "shoe"));
        }
        assertThat(engine.claim(pools.get(0), "gus").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(engine.claim(pools.get(1), "gus").kind()).isEqualTo(Kind.LIMITED);

        // When that was yesterday
        long today = LocalDate.now(ZoneOffset.UTC).toEpochDay();
        String key = books.stamps().get(pools.get(0).shard()) + ":c:"
                + campaign.campaign().id();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.hset(key, "gus", "1:" + (today - 1) + ":1");
            assertThat(engine.claim(pools.get(1), "gus").kind()).isEqualTo(Kind.CLAIMED);

            // When another server's clock was ahead
            redis.hset(key, "gus", "2:" + (today + 1) + ":1");
            assertThat(engine.claim(pools.get(2), "gus").kind()).isEqualTo(Kind.LIMITED);

            // Then the winner gets the claim back all the same
            assertThat(engine.claim(pools.get(0), "gus").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
            redis.hset(key, "gus", "2:" + today + ":2");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"everything", "what the campaign has counted"})
    void aRecoveryCountsAnew(String lost) {
        // Given claims up to the limits
        Campaign.View campaign = campaigns.create(limited(10_000, 10, 2, 0, 1));
        Packet shoe = campaigns.open(campaign, "ann", "shoe");
        Packet hat = campaigns.open(campaign, "ben", "hat");
        Packet coat = campaigns.open(campaign, "cat", "coat");
        Packet shoes = campaigns.open(campaign, "dan", "shoe");
        for (Packet pool : List.of(shoe, hat)) {
            assertThat(engine.claim(pool, "hal").kind()).isEqualTo(Kind.CLAIMED);
        }
        assertThat(engine.claim(shoe, "ida").kind()).isEqualTo(Kind.CLAIMED);

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            if (lost.equals("everything")) {
                redis.flushAll();
            } else {
                assertThat(redis.del(books.stamps().get(shoe.shard()) + ":c:"
                                + campaign.campaign().id()))
                        .isEqualTo(1);
            }
        }

        // Then
        assertThat(claimOnceRecovered(coat, "hal")).isEqualTo(Kind.LIMITED);
        assertThat(claimOnceRecovered(shoes, "ida")).isEqualTo(Kind.LIMITED);
        assertThat(claimOnceRecovered(coat, "ida")).isEqualTo(Kind.CLAIMED);
        assertThat(claimOnceRecovered(hat, "ida")).isEqualTo(Kind.LIMITED);
        assertBooks();
    }

    /** A claim may have to wait longer for a recovery than its caller does. */
    private Kind claimOnceRecovered(Packet pool, String user) {
        return eventuallyGet(IN_TIME, () -> engine.claim(pool, user).kind());
    }
}
