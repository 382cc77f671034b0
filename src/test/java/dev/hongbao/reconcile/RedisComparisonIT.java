package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.engine.Mode.RedisComparison.Differences;
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
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
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

/** Which differences count. The comparison itself is the test's own, and always finds one. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisComparisonIT {
    private static final Differences WRONG = new Differences(List.of(), List.of("it is not as it was"));

    private TestServers servers;
    private TestEngine engine;
    private Packet packet;
    private int claims;
    private int works;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        engine.deposit("alice", 10_000);
        packet = engine.send("alice", 1_000, 100); // more shares than an audit looks again
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private List<Finding> audit(Supplier<Future<Differences>> comparison) {
        return auditWith((pool, redis, generation) -> (before, later) -> comparison.get());
    }

    private List<Finding> auditWith(RedisComparison.Factory audit) {
        String namespace = engine.engine().namespace();
        return get(engine.loop(0)
                .call(services -> RedisLinks.open(engine.vertx(), servers.redisUrl(), Duration.ofSeconds(5), "audit")
                        .compose(redis -> new RedisComparisons(
                                        engine.vertx(),
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
    }

    @Test
    void whatStaysWrongIsABrokenRule() {
        List<Finding> findings = audit(() -> Future.succeededFuture(WRONG));

        assertThat(findings)
                .filteredOn(finding -> finding.severity() == Severity.VIOLATION)
                .flatExtracting(Finding::lines)
                .containsExactly("it is not as it was");
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

        // When Redis gives a claim another slot
        String key = new Books(servers).stamps().get(0) + ":p:" + busy.id();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.hset(key, "first", "4999");

            // Then
            assertThat(violations(audit))
                    .singleElement()
                    .asString()
                    .contains(busy.id().toString());
            redis.hset(key, "first", "0");
        }
        assertThat(violations(audit)).isEmpty();
    }

    @Test
    void aForgedDrawIsFoundWhileItsShardIsPlayedAndATrueOneIsClean() {
        // Given a draw that is played now and then, and another twice as often, between two looks at Redis and within
        // one
        TestDraws draws = new TestDraws(engine);
        Draw rare = draws.create(
                "{mode: weights, prizes: [{name: a, weight: 1, stock: 100000, perUser: 5}], fallback: {name: f}}");
        Draw busy = draws.create(
                "{mode: weights, prizes: [{name: a, weight: 1, stock: 100000, perUser: 5}], fallback: {name: f}}");
        get(draws.play(0, rare, "first"));
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

        // When Redis counts more of a user, forgets a user, or has more left of a stock
        String key = new Books(servers).stamps().get(0) + ":d:" + rare.id();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            String first = redis.hget(key, "first");
            redis.hset(key, "first", "3");
            assertThat(violations(audit)).anyMatch(line -> line.contains(rare.id() + " user first"));
            redis.hdel(key, "first");
            assertThat(violations(audit)).anyMatch(line -> line.contains(rare.id() + ": Redis remembers"));
            redis.hset(key, "first", first);

            byte[] hash = key.getBytes(StandardCharsets.UTF_8);
            byte[] equals = "=".getBytes(StandardCharsets.UTF_8);
            byte[] busyHash = (new Books(servers).stamps().get(0) + ":d:" + busy.id()).getBytes(StandardCharsets.UTF_8);
            redis.hset(hash, equals, redis.hget(busyHash, equals));

            // Then
            assertThat(violations(audit))
                    .anyMatch(line -> line.contains(rare.id().toString()));
        }
    }

    @Test
    void aDrawThatIsPlayedInEachLookIsNoBrokenRule() {
        TestDraws draws = new TestDraws(engine);
        Draw busy = draws.create(
                "{mode: weights, prizes: [{name: a, weight: 1, stock: 100000, perUser: 5}], fallback: {name: f}}");

        List<Finding> findings = auditWith((pool, redis, generation) -> Draws.TRAITS
                .comparison()
                .of(
                        pool,
                        between(
                                redis,
                                () -> works++ % 6 == 0
                                        ? draws.play(0, busy, "user" + claims++)
                                        : Future.succeededFuture()),
                        generation));

        assertThat(findings)
                .filteredOn(finding -> finding.severity() == Severity.VIOLATION)
                .allMatch(Finding::isClean);
    }

    @Test
    void aForgedCampaignIsFoundWhileItIsClaimedAndATrueOneIsClean() {
        // Given a campaign that is claimed in each look
        TestCampaigns campaigns = new TestCampaigns(engine);
        engine.deposit(TestDraws.SERVICE.user().value(), 1_000_000);
        Campaign.View campaign = campaigns.create(TestCampaigns.limited(100_000, 500, 400, 0, 0));
        Packet pool = campaigns.open(campaign, "opener", "shoe");
        engine.claim(pool, "first");
        RedisComparison.Factory audit = (pools, redis, generation) -> Campaigns.TRAITS
                .comparison()
                .of(pools, between(redis, () -> engine.claim(0, pool, "busy" + claims++)), generation);
        assertThat(violations(audit)).isEmpty();

        // When Redis counts more or less than there are
        String key =
                new Books(servers).stamps().get(0) + ":c:" + campaign.campaign().id();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            String one = redis.hget(key, "first");
            for (String count : List.of("0" + one.substring(1), "2" + one.substring(1))) {
                redis.hset(key, "first", count);

                // Then
                assertThat(violations(audit))
                        .singleElement()
                        .asString()
                        .contains(campaign.campaign().id().toString());
            }
            redis.hset(key, "first", one);
        }
        assertThat(violations(audit)).isEmpty();
    }

    private List<String> violations(RedisComparison.Factory audit) {
        return auditWith(audit).stream()
                .filter(finding -> finding.severity() == Severity.VIOLATION)
                .flatMap(finding -> finding.lines().stream())
                .toList();
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
