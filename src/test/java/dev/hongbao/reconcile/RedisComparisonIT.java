package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.Packets;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Which differences count on a server at work. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisComparisonIT {
    private static final String DRAW =
            "{mode: weights, prizes: [{name: a, weight: 1, stock: 100000, perUser: 5}], fallback: {name: f}}";

    private TestServers servers;
    private TestEngine engine;
    private int claims;
    private int works;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        engine.deposit("alice", 10_000);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    /** What happens between two looks is awaited, so that they need not be far apart. */
    @SuppressWarnings("unchecked")
    private Vertx soon() {
        return (Vertx) Proxy.newProxyInstance(
                Vertx.class.getClassLoader(),
                new Class<?>[] {Vertx.class},
                (self, setTimer, given) -> engine.vertx().setTimer((long) given[0] / 4, (Handler<Long>) given[1]));
    }

    private List<String> violations(RedisComparison.Factory audit) {
        String namespace = engine.engine().namespace();
        List<Finding> findings = get(engine.loop(0)
                .call(services -> RedisLinks.open(engine.vertx(), servers.redisUrl(), Duration.ofSeconds(5), "audit")
                        .compose(redis -> new RedisComparisons(
                                        soon(),
                                        new Pace(engine.vertx(), millis -> 0),
                                        engine.engine().pool(),
                                        redis,
                                        namespace,
                                        Stream.of(Packets.TRAITS, Draws.TRAITS)
                                                .flatMap(mode -> mode
                                                        .settlers()
                                                        .apply(engine.engine().pool())
                                                        .stream())
                                                .map(Settler::format)
                                                .toList(),
                                        List.of(audit))
                                .run()
                                .eventually(redis::close))));
        return findings.stream()
                .filter(finding -> finding.severity() == Severity.VIOLATION)
                .flatMap(finding -> finding.lines().stream())
                .toList();
    }

    @Test
    void aForgedPacketIsFoundWhileItIsClaimedAndATrueOneIsClean() {
        // Given a packet that is claimed in each look, before Redis is read and after
        Packet busy = engine.send("alice", 5_000, 5_000);
        engine.claim(busy, "first");
        RedisComparison.Factory audit = (pool, redis, generation) -> Packets.TRAITS
                .comparison()
                .of(pool, between(redis, () -> engine.claim(0, busy, "busy" + claims++)), generation);
        assertThat(violations(audit)).isEmpty();

        // When Redis gives a claim another slot, and a slot of another packet to nobody's claim
        Packet quiet = engine.send("alice", 10, 10);
        engine.claim(quiet, "first");
        String stamp = new Books(servers).stamps().get(0);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.hset(stamp + ":p:" + busy.id(), "first", "4999");
            redis.hset(stamp + ":p:" + quiet.id(), Map.of("mallory", "1", "#", "2"));

            // Then
            assertThat(violations(audit))
                    .hasSize(2)
                    .anyMatch(line -> line.contains(busy.id().toString()))
                    .anyMatch(line -> line.contains(quiet.id().toString()));
            redis.hset(stamp + ":p:" + busy.id(), "first", "0");
            redis.hdel(stamp + ":p:" + quiet.id(), "mallory");
            redis.hset(stamp + ":p:" + quiet.id(), "#", "1");
        }
        assertThat(violations(audit)).isEmpty();
    }

    @Test
    void aForgedDrawIsFoundWhileItsShardIsPlayedAndATrueOneIsClean() {
        // Given a draw that is played now and then, and another twice as often, between two looks at Redis and within
        // one
        TestDraws draws = new TestDraws(engine);
        Draw rare = draws.create(DRAW);
        Draw busy = draws.create(DRAW);
        get(draws.play(0, rare, "first"));
        get(draws.play(0, rare, "second"));
        RedisComparison.Factory audit = (pool, redis, generation) -> Draws.TRAITS
                .comparison()
                .of(
                        pool,
                        between(redis, () -> {
                            works++;
                            Draw played = works % 25 == 0 ? busy : works % 40 == 0 ? rare : null;
                            return played == null ? Future.succeededFuture() : draws.play(0, played, "user" + claims++);
                        }),
                        generation);
        assertThat(violations(audit)).isEmpty();

        // When Redis counts more of a user, forgets a user, and has more left of a stock
        String stamp = new Books(servers).stamps().get(0);
        String key = stamp + ":d:" + rare.id();
        byte[] hash = key.getBytes(StandardCharsets.UTF_8);
        byte[] busyHash = (stamp + ":d:" + busy.id()).getBytes(StandardCharsets.UTF_8);
        byte[] equals = "=".getBytes(StandardCharsets.UTF_8);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.hset(key, "first", "3");
            redis.hdel(key, "second");
            redis.hset(hash, equals, redis.hget(busyHash, equals));

            // Then
            assertThat(violations(audit))
                    .anyMatch(line -> line.contains(rare.id() + " user first"))
                    .anyMatch(line -> line.contains(rare.id() + ": Redis remembers"))
                    .anyMatch(line -> line.contains(rare.id() + ": round, left in it"));
        }
    }

    @Test
    void aDrawThatIsPlayedInEachLookIsNoBrokenRule() {
        TestDraws draws = new TestDraws(engine);
        Draw busy = draws.create(DRAW);

        List<String> violations = violations((pool, redis, generation) -> Draws.TRAITS
                .comparison()
                .of(
                        pool,
                        between(
                                redis,
                                () -> works++ % 12 == 0
                                        ? draws.play(0, busy, "user" + claims++)
                                        : Future.succeededFuture()),
                        generation));

        assertThat(violations).isEmpty();
    }

    @Test
    void aForgedCampaignIsFoundWhileItIsClaimedAndATrueOneIsClean() {
        // Given a campaign that is claimed in each look, and a quiet one
        TestCampaigns campaigns = new TestCampaigns(engine);
        engine.deposit(TestDraws.SERVICE.user().value(), 1_000_000);
        Campaign.View campaign = campaigns.create(TestCampaigns.limited(100_000, 500, 400, 0, 0));
        Packet pool = campaigns.open(campaign, "opener", "shoe");
        engine.claim(pool, "first");
        Campaign.View quiet = campaigns.create(TestCampaigns.limited(100_000, 500, 400, 0, 0));
        engine.claim(campaigns.open(quiet, "opener", "shoe"), "first");
        Campaign.View ofProducts = campaigns.create(TestCampaigns.limited(100_000, 500, 400, 0, 1));
        RedisComparison.Factory audit = (pools, redis, generation) -> Campaigns.TRAITS
                .comparison()
                .of(pools, between(redis, () -> engine.claim(0, pool, "busy" + claims++)), generation);
        assertThat(violations(audit)).isEmpty();

        // When Redis counts less and more than there are, and one of nobody for a product
        String prefix = new Books(servers).stamps().get(0) + ":c:";
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            String one = redis.hget(prefix + quiet.campaign().id(), "first");
            redis.hset(prefix + campaign.campaign().id(), "first", "0" + one.substring(1));
            redis.hset(prefix + quiet.campaign().id(), "first", "2" + one.substring(1));
            redis.hset(prefix + ofProducts.campaign().id(), "eve shoe", "1");

            // Then
            assertThat(violations(audit))
                    .hasSize(3)
                    .anyMatch(line -> line.contains(campaign.campaign().id().toString()))
                    .anyMatch(line -> line.contains(quiet.campaign().id().toString()))
                    .anyMatch(line -> line.contains(ofProducts.campaign().id().toString()));
            redis.hset(prefix + campaign.campaign().id(), "first", one);
            redis.hset(prefix + quiet.campaign().id(), "first", one);
            redis.hdel(prefix + ofProducts.campaign().id(), "eve shoe");
        }
        assertThat(violations(audit)).isEmpty();
    }

    /** A link on which something is done before each command and after it. */
    private static RedisLink between(RedisLink link, Supplier<Future<?>> work) {
        return new RedisLink() {
            @Override
            public boolean isConnected() {
                return link.isConnected();
            }

            @Override
            public RedisLink server() {
                return link.server();
            }

            @Override
            public Future<@Nullable Response> send(Request request) {
                return work.get()
                        .compose(before -> link.send(request))
                        .compose(reply -> work.get().map(after -> reply));
            }
        };
    }
}
