package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.ClaimService.ClaimMetrics;
import dev.hongbao.store.redis.LosesAnAnswer;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UnavailableException.Reason;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.net.URI;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClaimBatcherIT {
    private TestServers servers;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of());
        engine.deposit("alice", 10_000);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private ClaimBatcher batcher(RedisLinks redis, Shards shards) {
        return batcher(redis, shards, 1_000);
    }

    /** @param room the entries that a journal takes */
    private ClaimBatcher batcher(RedisLinks redis, Shards shards, int room) {
        Attempts.Limits limits = new Attempts.Limits(256, 100, room, Duration.ofSeconds(2), Duration.ZERO);
        return new ClaimBatcher(
                new Attempts(Loop.of(engine.vertx()), redis, shards, null, null, limits, Clock.systemUTC()),
                new ClaimMetrics(new SimpleMeterRegistry()));
    }

    /** As a server that stood still for minutes: what its claims count on may be over. */
    @Test
    void whatIsLateIsNotSent() {
        // Given
        Packet packet = engine.send("alice", 1000, 10);
        Shards shards = engine.shards(16, "claim", "load", "close");
        long now = System.nanoTime();

        // When
        List<Future<ClaimBatcher.Answer>> answers = new ArrayList<>();
        get(engine.loop(0).call(services -> {
            ClaimBatcher batcher = batcher(services.redis, shards);
            answers.add(batcher.submit(packet, new UserId("late"), now - 1));
            answers.add(batcher.submit(packet, new UserId("ann"), now + 5_000_000_000L));
            return Future.join(answers).otherwiseEmpty();
        }));

        // Then
        assertThat(answers.get(0).cause()).isInstanceOf(UnavailableException.class);
        assertThat(answers.get(1).result().slot()).isZero();
    }

    /** As two claims that one client sends at once on one connection: the answer to the first makes the second. */
    @Test
    void whoIsToldThatItIsTooLateMayClaimAtOnce() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given a call that fails, and claims behind it that are late then
            Packet packet = engine.send("alice", 1000, 10);
            Shards shards = engine.shards(16, "claim", "load", "close");
            redis.del(shards.current(packet.shard()).generation().journalKey());
            long now = System.nanoTime();
            long deadline = now + 2_000_000_000L;
            List<Future<ClaimBatcher.Answer>> answers = new ArrayList<>();

            // When each of these claims again as soon as it is told
            int waiting = get(engine.loop(0).call(services -> {
                ClaimBatcher batcher = batcher(services.redis, shards);
                answers.add(batcher.submit(packet, new UserId("first"), deadline));
                Promise<Void> sent = Promise.promise();
                engine.vertx().runOnContext(after -> {
                    for (String user : List.of("ann", "ben", "cai")) {
                        answers.add(batcher.submit(packet, new UserId(user), now - 1)
                                .recover(late -> batcher.submit(packet, new UserId(user), deadline)));
                    }
                    sent.complete();
                });
                return sent.future()
                        .compose(all -> Future.join(answers).otherwiseEmpty())
                        .map(all -> batcher.waiting());
            }));

            // Then all are answered
            assertThat(answers).hasSize(4).allMatch(Future::isComplete);
            assertThat(waiting).isZero();
            assertThat(engine.claim(packet, "later").kind()).isEqualTo(Kind.CLAIMED);
        }
    }

    /** The catalog's cache may drop a packet and read it again while claims on the first object wait. */
    @Test
    void twoObjectsOfOnePacketInABatchDoNotGiveASlotTwice() {
        // Given
        Packet one = engine.send("alice", 1000, 10);
        Packet two = get(new PacketCatalog(new PacketStore(engine.engine().pool())).find(one.id()));
        assertThat(two).isNotSameAs(one);
        Shards shards = engine.shards(16, "claim", "load", "close");
        long deadline = System.nanoTime() + 5_000_000_000L;

        // When the first claim is in flight, the others share the next batch
        List<Future<ClaimBatcher.Answer>> answers = new ArrayList<>();
        get(engine.loop(0).call(services -> {
            ClaimBatcher batcher = batcher(services.redis, shards);
            answers.add(batcher.submit(one, new UserId("in-flight"), deadline));
            answers.add(batcher.submit(one, new UserId("ann"), deadline));
            answers.add(batcher.submit(two, new UserId("ben"), deadline));
            answers.add(batcher.submit(two, new UserId("ann"), deadline));
            return Future.join(answers);
        }));

        // Then
        assertThat(answers.stream().map(answer -> answer.result().slot())).containsExactly(0, 1, 2, 1);
    }

    @Test
    void aFullJournalRefusesAndTakesClaimsAgainWhenItHasSettled() throws Exception {
        Map<String, String> options =
                Map.of("journal.max-entries", "256", "claim.batch-size", "1", "claim.settle-timeout", "10s");
        try (TestServers own = Servers.fresh();
                TestEngine engine = TestEngine.start(own, 1, options)) {
            Books books = new Books(own);
            // Given a Postgres that does not settle
            engine.deposit("alice", 10_000);
            Packet packet = engine.send("alice", 1000, 1000);
            List<Future<Claim>> answers = new ArrayList<>();
            int taken;
            try (Connection blocker = TestDatabase.lockRows(own.postgresOwnerUrl(), "shard")) {
                // When
                for (int i = 0; i < 400; i++) {
                    String user = "u" + i;
                    Promise<Claim> accepted = Promise.promise();
                    answers.add(accepted.future());
                    engine.loop(0)
                            .call(services ->
                                    services.claims.claim(member(user), packet.id(), null, accepted::complete))
                            .onFailure(accepted::tryFail);
                }
                List<Throwable> refused = new ArrayList<>();
                for (Future<Claim> answer : answers) {
                    try {
                        get(answer);
                    } catch (UnavailableException full) {
                        assertThat(full.reason()).isEqualTo(UnavailableException.Reason.OVERLOADED);
                        refused.add(full);
                    }
                }

                // Then: an entry that is settled and not trimmed yet takes a place too
                taken = answers.size() - refused.size();
                assertThat(taken).isBetween(250, 256);
                blocker.rollback();
            }
            assertThat(engine.claim(packet, "u0").wonClaim().slot()).isZero();
            Eventually.eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(books.longOf("select count(*) from claim where packet = '" + packet.id() + "'"))
                            .isEqualTo(taken));
            assertThat(engine.claim(packet, "u399").kind()).isEqualTo(Kind.CLAIMED);
            books.assertClean();
        }
    }

    /** A full journal refuses the whole batch, also the claim that a call took whose answer was lost. */
    @Test
    void whoMayHaveAShareIsNotToldThatNothingWasDone() {
        // Given a journal that nobody settles, full after one more entry, and a link that loses the first answer
        Packet packet = engine.send("alice", 1000, 10);
        Shards shards = engine.shards(16, "claim", "load", "close");
        get(engine.engine().stopWriter());
        int room = 1 + (int) xlen(shards, packet);
        long deadline = System.nanoTime() + 10_000_000_000L;

        // When another claim joins the one that is repeated
        List<Future<ClaimBatcher.Answer>> answers = get(engine.loop(0)
                .call(services -> LosesAnAnswer.submit(
                        services.redis.linkFor(
                                shards.current(packet.shard()).generation().journalKey()),
                        1,
                        links -> batcher(links, shards, room),
                        batcher -> batcher.submit(packet, new UserId("ann"), deadline),
                        batcher -> batcher.submit(packet, new UserId("ben"), deadline))));

        // Then
        assertThat(answers)
                .extracting(answer -> ((UnavailableException) answer.cause()).reason())
                .containsExactly(Reason.UNKNOWN, Reason.OVERLOADED);
        get(engine.engine().startWriter());
        assertThat(engine.claim(packet, "ben").wonClaim().slot()).isEqualTo(1);
        assertThat(engine.claim(packet, "ann").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
    }

    private long xlen(Shards shards, Packet packet) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.xlen(shards.current(packet.shard()).generation().journalKey());
        }
    }
}
