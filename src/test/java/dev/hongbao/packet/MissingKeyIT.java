package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Many claims on a packet whose key Redis lost: they wait for its recovery, and their number does no harm. */
@ExtendWith(Servers.class)
class MissingKeyIT {
    private final TestServers servers;
    private final Books books;

    MissingKeyIT(TestServers servers) {
        this.servers = servers;
        this.books = new Books(servers);
    }

    private TestEngine start(String maxWaiting, String timeout) {
        return TestEngine.start(
                servers,
                1,
                Map.of(
                        "shards",
                        "1",
                        "http.event-loops",
                        "1",
                        "claim.max-waiting",
                        maxWaiting,
                        "claim.settle-timeout",
                        timeout));
    }

    /** A packet whose key is lost while no server recovers its shard. */
    private Packet lost(TestEngine engine) {
        engine.deposit("alice", 10_000);
        Packet packet = engine.send("alice", 10_000, 1_000);
        engine.claim(packet, "u0");
        get(engine.engine().stopWriter());
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.keys("*:p:" + packet.id()).forEach(redis::del);
        }
        return packet;
    }

    private static Stream<Future<ClaimOutcome>> claims(TestEngine engine, Packet packet, int users) {
        return IntStream.range(0, users).mapToObj(user -> engine.claim(0, packet, "u" + user)).toList().stream();
    }

    @Test
    void eachOfThemGetsItsOutcome() {
        try (TestEngine engine = start("10000", "30s")) {
            // Given more claims than may wait for a connection to Postgres
            Packet packet = lost(engine);
            Stream<Future<ClaimOutcome>> claims = claims(engine, packet, 3_000);

            // When
            get(engine.engine().startWriter());

            // Then
            Map<Kind, Integer> outcomes = new HashMap<>();
            claims.forEach(claim -> outcomes.merge(get(claim).kind(), 1, Integer::sum));
            outcomes.merge(Kind.CLAIMED, outcomes.remove(Kind.ALREADY_CLAIMED), Integer::sum);
            assertThat(outcomes).isEqualTo(Map.of(Kind.CLAIMED, 1_000, Kind.DRAINED, 2_000));
        }
        books.assertClean();
    }

    @Test
    void theyKeepTheirPlaces() {
        try (TestEngine engine = start("50", "2s")) {
            // Given as many claims as may wait
            Packet packet = lost(engine);
            Stream<Future<ClaimOutcome>> claims = claims(engine, packet, 50);

            // When, then
            assertThatThrownBy(() -> engine.claim(packet, "late"))
                    .isInstanceOfSatisfying(
                            UnavailableException.class,
                            refused -> assertThat(refused.reason()).isEqualTo(UnavailableException.Reason.OVERLOADED));

            // And they give them back
            claims.forEach(claim -> assertThatThrownBy(() -> get(claim))
                    .isInstanceOfSatisfying(
                            UnavailableException.class,
                            unknown -> assertThat(unknown.reason()).isEqualTo(UnavailableException.Reason.UNKNOWN)));
            get(engine.engine().startWriter());
            assertThat(engine.claim(packet, "late").kind()).isEqualTo(Kind.CLAIMED);
        }
    }
}
