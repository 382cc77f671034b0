package dev.hongbao.packet;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/**
 * Users whose ids begin with every character there is stand beside the marks of the hashes and the journal. They claim, play, meet their
 * limits and outlive a recovery as any other user does.
 */
@ExtendWith(Servers.class)
class EveryIdIT {
    private static final List<String> USERS = Stream.concat(
                    IntStream.rangeClosed('!', '~')
                            .mapToObj(first -> String.valueOf((char) first))
                            .flatMap(first -> Stream.of(first, first + "0", "." + first)),
                    Stream.of("1e9", "a.b~c@d|e+f=g:h-i", "x".repeat(UserId.MAX_LENGTH)))
            .filter(UserId::isValid)
            .distinct()
            .toList();

    @Test
    void aUserOfEveryFirstCharacterIsAUserLikeAnyOther(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 2, Map.of("shards", "2", "claim.settle-timeout", "30s"))) {
            Books books = new Books(servers);
            TestCampaigns campaigns = new TestCampaigns(engine);
            TestDraws draws = new TestDraws(engine);

            // Given a packet, a pool that counts its claims, and a draw that costs a point and counts its plays
            draws.deposit("shop", CNY, 10_000_000);
            engine.deposit("#", 1_000_000);
            Packet packet = engine.send("#", 100_000, USERS.size() + 10);
            Campaign.View campaign = campaigns.create(TestCampaigns.limited(100_000, 1000, 1, 1, 1));
            Packet pool = campaigns.open(campaign, "!", "shoe");
            Packet next = campaigns.open(campaign, "*", "shoe");
            Draw draw = draws.create("""
                mode: table
                whenExhausted: repeat
                cost: {asset: POINTS, amount: 1}
                limits: {total: 1}
                prizes:
                  - {name: gold, count: 1, stock: 1000, award: {asset: CNY, amount: 2}}
                  - {name: nothing, count: 9}
                """);
            USERS.forEach(user -> draws.deposit(user, POINTS, 10));
            Map<String, IdempotencyKey> keys = USERS.stream().collect(toMap(user -> user, user -> newKey()));

            // When each claims and plays
            Map<String, ClaimOutcome> claims = each(user -> engine.claim(0, packet, user));
            Map<String, ClaimOutcome> counted = each(user -> engine.claim(1, pool, user));
            Map<String, PlayOutcome> plays = each(user -> draws.play(0, draw, user, 1, keys.get(user)));
            long epochs = books.sumOfEpochs();
            books.assertReconciled();

            // And Redis loses everything
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                redis.flushAll();
            }
            eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(books.sumOfEpochs()).isGreaterThanOrEqualTo(epochs + 2));

            // Then each has one share of its own, the same as before, no more of the campaign, and one play
            assertThat(claims.values()).allMatch(claim -> claim.kind() == ClaimOutcome.Kind.CLAIMED);
            assertThat(claims.values().stream().map(claim -> claim.wonClaim().slot()))
                    .doesNotHaveDuplicates();
            each(user -> engine.claim(1, packet, user))
                    .forEach((user, again) -> assertThat(again.claim())
                            .as(user)
                            .isEqualTo(claims.get(user).claim()));
            assertThat(counted.values()).allMatch(claim -> claim.kind() == ClaimOutcome.Kind.CLAIMED);
            assertThat(each(user -> engine.claim(0, next, user)).values())
                    .allMatch(claim -> claim.kind() == ClaimOutcome.Kind.LIMITED);
            each(user -> draws.play(1, draw, user, 1, keys.get(user)))
                    .forEach((user, again) -> assertThat(again.plays())
                            .as(user)
                            .isEqualTo(plays.get(user).plays()));
            assertThat(each(user -> draws.play(1, draw, user)).values())
                    .allMatch(play -> play.plays().isEmpty());
            assertThat(draws.plays(draw)).hasSize(USERS.size());
            USERS.forEach(
                    user -> assertThat(draws.balance(user, POINTS)).as(user).isEqualTo(9));
            books.assertReconciled();
            books.assertClean();
        }
    }

    private static <T> Map<String, T> each(Function<String, Future<T>> call) {
        Map<String, Future<T>> answers = USERS.stream().collect(toMap(user -> user, call));
        return USERS.stream().collect(toMap(user -> user, user -> get(answers.get(user))));
    }
}
