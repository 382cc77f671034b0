package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/** The rules of recovery, one by one (invariants I5, I6, I9). */
@ExtendWith(Servers.class)
class RecoveryRulesIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Map<String, String> OPTIONS = Map.of("shards", "1");

    private TestServers servers;
    private Books books;
    private TestEngine engine;
    private Jedis redis;

    @BeforeEach
    void start(TestServers shared) {
        servers = shared;
        books = new Books(shared);
        engine = TestEngine.start(shared, 1, OPTIONS);
        engine.deposit("alice", 10_000);
        redis = new Jedis(URI.create(shared.redisUrl()));
    }

    @AfterEach
    void stop() {
        redis.close();
        engine.close();
    }

    @Test
    void aLongJournalIsSettledInPartsByARecovery() {
        // Given more accepted claims than one settlement takes
        Packet packet = engine.send("alice", 6_000, 6_000);
        get(engine.engine().stopWriter());
        List<Future<ClaimOutcome>> crowd = get(engine.loop(0)
                .call(services -> Future.succeededFuture(IntStream.range(0, 5_000)
                        .mapToObj(n -> services.claims.accept(member("crowd-" + n), packet.id(), null))
                        .toList())));
        assertThat(crowd.stream().map(TestEngine::get)).allMatch(outcome -> outcome.kind() == Kind.ACCEPTED);
        List<String> generation = books.stamps();

        // When the shard is recovered
        redis.scriptFlush();
        get(engine.engine().startWriter());
        eventually(SOON, () -> assertThat(books.stamps()).isNotEqualTo(generation));

        // Then all are settled, and no transaction kept the others waiting for all of them
        assertThat(engine.claim(packet, "late").wonClaim().slot()).isEqualTo(5_000);
        assertThat(books.longOf(
                        "select max(claims) from (select count(*) as claims from transfer where slot is not null"
                                + " group by xmin::text) as transactions"))
                .isBetween(1_000L, 2_500L);
    }

    /** A caller who loaded a lost script again by himself would give away slots that others have. */
    @Test
    void aRedisThatHasForgottenItsEndGivesNothingBeforeItIsRecovered() {
        // Given three who have won, of whom Redis forgets two together with its scripts, as one that comes back with an
        // old log
        Packet packet = engine.send("alice", 1000, 100);
        assertThat(engine.claim(packet, "first").wonClaim().slot()).isZero();
        String hash = books.stamps().get(0) + ":p:" + packet.id();
        Map<String, String> early = redis.hgetAll(hash);
        assertThat(engine.claim(packet, "second").wonClaim().slot()).isEqualTo(1);
        assertThat(engine.claim(packet, "third").wonClaim().slot()).isEqualTo(2);
        String script = "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], unpack(ARGV))";
        List<String> fields = early.entrySet().stream()
                .flatMap(field -> Stream.of(field.getKey(), field.getValue()))
                .toList();
        redis.eval(script, List.of(hash), fields);
        redis.scriptFlush();

        // When somebody claims, and does not wait for the settlement
        ClaimOutcome outcome =
                get(engine.loop(0).call(services -> services.claims.accept(member("late"), packet.id(), null)));

        // Then the share is one that nobody has
        assertThat(outcome.kind()).isEqualTo(Kind.ACCEPTED);
        assertThat(outcome.wonClaim().slot()).isEqualTo(3);
        assertThat(engine.claim(packet, "late").wonClaim().slot()).isEqualTo(3);
        books.assertReconciled();
    }

    @Test
    void aCursorWhoseCommitIsUnderWayIsWaitedFor() throws Exception {
        // Given a settlement that has moved the cursor and not committed
        get(engine.engine().stopWriter());
        ShardStore store = new ShardStore(
                engine.engine().pool(), get(Installation.read(engine.engine().pool(), null)));
        long cursor = get(store.readAll()).get(0).lastSeq();
        try (Connection settlement = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = settlement.createStatement()) {
            settlement.setAutoCommit(false);
            statement.execute("update shard set last_seq = last_seq + 1");

            // When
            Future<List<ShardStore.ShardRow>> read =
                    store.readSettled(engine.engine().pool(), List.of(0));
            eventually(
                    SOON,
                    () -> assertThat(read.isComplete()
                                    || books.longOf("select count(*) from pg_locks where not granted") > 0)
                            .isTrue());
            settlement.commit();

            // Then
            assertThat(get(read.timeout(20, TimeUnit.SECONDS)).get(0).lastSeq()).isEqualTo(cursor + 1);
        } finally {
            books.execute("update shard set last_seq = " + cursor);
            get(engine.engine().startWriter());
        }
    }

    /** A server never misreads an entry of a newer version, or a damaged one: the entry counts as not accepted. */
    @ParameterizedTest
    @CsvSource({"claim9, %s 1 newer, %s 1 newer", "claim, %s ? newer, %s ? newer", "claim, %s 1 newer, %s 1 never"})
    void anEntryThatThisVersionCannotReadIsVoid(String verb, String written, String item) {
        // Given a share that was given out in such an entry
        Packet packet = engine.send("alice", 1000, 100);
        assertThat(engine.claim(packet, "early").wonClaim().slot()).isZero();
        String old = books.stamps().get(0);
        redis.hset(old + ":p:" + packet.id(), Map.of("newer", "1", "#", "2"));
        String epoch = old.substring(old.indexOf("}:") + 2, old.lastIndexOf('-'));
        String sum = Script.sha1(verb + " " + written.formatted(packet.id()));
        String field = item.formatted(packet.id());
        redis.sendCommand(Protocol.Command.XADD, old + ":journal", epoch + "-*", "sum", sum, verb, field);

        // When
        eventually(SOON, () -> assertThat(books.stamps().get(0)).isNotEqualTo(old));

        // Then its slot is given again, once
        assertThat(engine.claim(packet, "late").wonClaim().slot()).isEqualTo(1);
        assertThat(engine.claim(packet, "newer").wonClaim().slot()).isEqualTo(2);
        books.assertReconciled();
    }

    @Test
    void oldGenerationsAreGoneWhenANewOneIsReady() {
        // Given
        Packet packet = engine.send("alice", 1000, 100);
        assertThat(engine.claim(packet, "early").kind()).isEqualTo(Kind.CLAIMED);
        String old = books.stamps().get(0);
        redis.hset(old + ":p:" + UUID.randomUUID(), "#", "7");

        // When
        redis.scriptFlush();
        assertThat(engine.claim(packet, "late").kind()).isEqualTo(Kind.CLAIMED);

        // Then
        assertThat(books.stamps().get(0)).isNotEqualTo(old);
        assertThat(redis.keys(old + "*")).isEmpty();
        assertThat(redis.keys("*:p:" + packet.id())).hasSize(1);
    }

    @Test
    void whatCrashesLeftIsSweptAndNothingElse() {
        // Given keys of a generation that was replaced, and of packets that are over, and keys that are not ours
        Packet open = engine.send("alice", 1000, 100);
        Packet over = engine.send("alice", 10, 1);
        assertThat(engine.claim(over, "bob").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(engine.claim(open, "bob").kind()).isEqualTo(Kind.CLAIMED);
        get(engine.engine().stopWriter());
        String stamp = books.stamps().get(0);
        String shard = stamp.substring(0, stamp.indexOf("}:") + 2);
        String openKey = stamp + ":p:" + open.id();
        List<String> leftovers = List.of(stamp + ":p:" + over.id(), shard + "0-0a1b2c3d4e5f:p:" + open.id());
        List<String> kept =
                List.of(openKey, stamp + ":p:mine", "{other:0}:0-0a1b2c3d4e5f:p:" + open.id(), "mine", shard + "mine");
        leftovers.forEach(key -> redis.hset(key, "#", "1"));
        kept.stream().filter(key -> !key.equals(openKey)).forEach(key -> redis.set(key, "1"));

        // When
        get(engine.engine().startWriter());

        // Then
        eventually(SOON, () -> assertThat(leftovers).noneMatch(redis::exists));
        assertThat(kept).allMatch(redis::exists);
        assertThat(books.stamps().get(0)).isEqualTo(stamp);
        kept.stream().filter(key -> !key.equals(openKey)).forEach(redis::del);
    }

    @Test
    void aLaterGenerationThatOnlyRedisKnowsIsNeverReached() {
        // Given a key of an epoch that Postgres has forgotten
        get(engine.engine().stopWriter());
        String stamp = books.stamps().get(0);
        String key = stamp.substring(0, stamp.indexOf("}:") + 2) + (books.sumOfEpochs() + 5) + "-0a1b2c3d4e5f:journal";
        long epoch = books.sumOfEpochs();
        redis.set(key, "1");

        // When
        get(engine.engine().startWriter());

        // Then
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isEqualTo(epoch + 6));
        eventually(SOON, () -> assertThat(redis.exists(key)).isFalse());
        Packet packet = engine.send("alice", 1000, 100);
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
    }
}
