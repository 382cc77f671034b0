package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers on the same stores: each owns some shards, both take claims (invariant I9). */
@ExtendWith(Servers.class)
class TwoServersIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private static double live(TestEngine engine) {
        return engine.metrics().get("hongbao.journal.live.shards").gauge().value();
    }

    @Test
    void theOtherTakesOverWhenTheOwnersPostgresFallsSilent(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            Map<String, String> options = Map.of("shards", "4");
            try (TestEngine first = TestEngine.start(PostgresLine.stores(line, servers), 1, options);
                    TestEngine second = TestEngine.start(servers, 1, options)) {
                // Given
                second.deposit("alice", 1000);
                Packet packet = second.send("alice", 1000, 10);
                eventually(SOON, () -> assertThat(live(first)).isPositive());

                // When
                line.fallSilent();

                // Then
                eventually(
                        Duration.ofSeconds(20), () -> assertThat(live(second)).isEqualTo(4));
                assertThat(second.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                line.close();
            }
        }
    }

    @Test
    void nobodyWaitsForAServerWhoseLineToRedisIsDead(TestServers servers) throws Exception {
        Books books = new Books(servers);
        Map<String, String> options = Map.of("shards", "4");
        URI redis = URI.create(servers.redisUrl());
        StoreAddresses stores = TestEngine.stores(servers);
        try (LossyProxy line = new LossyProxy(redis.getHost(), redis.getPort());
                TestEngine owner = TestEngine.start(servers, 1, options)) {
            // Given a crowd, and a server that just came: the owner will give it half of the shards
            String behind = servers.redisUrl().replace(":" + redis.getPort(), ":" + line.port());
            owner.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(owner).start("alice");
            crowd.awaitSettled(100);
            try (TestEngine idle =
                    TestEngine.start(new StoreAddresses(behind, stores.owner(), stores.app()), 1, options)) {
                assertThat(live(idle)).isZero();

                // When its open connections to Redis die silently
                line.swallow();

                // Then it settles its part all the same, and no claim waited for it in vain
                eventually(Duration.ofSeconds(20), () -> assertThat(live(idle)).isEqualTo(2));
                crowd.awaitSettled(100);
                crowd.stop();
                assertThat(crowd.unknownAnswers()).isZero();
                eventually(SOON, () -> {
                    books.assertNothingDue();
                    books.assertJournalsEmpty();
                });
                crowd.assertAnswersKept(servers);
                books.assertClean();
            }
        }
    }

    @Test
    void whoWaitsAtTheOtherForWhatTheOwnerSetsAsideIsToldWhyAndServedWhenItIsBack(TestServers servers)
            throws Exception {
        Books books = new Books(servers);
        Map<String, String> options = Map.of("shards", "4", "claim.settle-timeout", "20s");
        try (TestEngine owner = TestEngine.start(servers, 1, options);
                TestEngine other = TestEngine.start(servers, 1, options)) {
            // Given
            get(other.engine().stopWriter());
            owner.deposit("alice", 10_000);
            Packet packet = owner.send("alice", 1000, 5);
            Draw draw = new TestDraws(owner).create("{mode: weights, prizes: [{name: a, weight: 1}]}");
            eventually(SOON, () -> assertThat(live(owner)).isEqualTo(4));
            ClaimOutcome first = other.claim(packet, "bob");
            try (RefusingServer claims = RefusingServer.rows(
                            books, "transfer", "new.subject = '" + packet.id() + "' and new.slot > 0", "23514");
                    RefusingServer plays =
                            RefusingServer.rows(books, "play", "new.draw = '" + draw.id() + "'", "23514")) {
                // When
                Future<ClaimOutcome> claim = other.claim(0, packet, "carol");
                Future<PlayOutcome> play = new TestDraws(other).play(0, draw, "carol");

                // Then
                assertSetAside(claim);
                assertSetAside(play);
                assertSetAside(other.claim(0, packet, "dave"));
                assertThat(other.claim(packet, "bob").wonClaim()).isEqualTo(first.wonClaim());
            }

            // When
            Operations.replay(TestEngine.stores(servers), packet.id().value());
            eventually(
                    SOON,
                    () -> assertThat(Operations.drop(
                                    TestEngine.stores(servers), draw.id().value()))
                            .isEqualTo(1));

            // Then
            eventually(
                    SOON, () -> assertThat(other.claim(packet, "carol").kind()).isEqualTo(Kind.ALREADY_CLAIMED));
            eventually(
                    SOON,
                    () -> assertThat(other.claim(packet, "dave").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            eventually(
                    SOON,
                    () -> assertThat(get(new TestDraws(other).play(0, draw, "carol"))
                                    .plays())
                            .hasSize(1));
            books.assertClean();
        }
    }

    /** At once, and not at the end of the time that a caller waits. */
    private static void assertSetAside(Future<?> answer) {
        assertThatThrownBy(() -> get(answer.timeout(10, TimeUnit.SECONDS)))
                .isInstanceOfSatisfying(
                        UnavailableException.class,
                        refused -> assertThat(Problem.ofFailure(refused))
                                .extracting(Problem::type)
                                .isEqualTo(ProblemType.SET_ASIDE));
    }
}
