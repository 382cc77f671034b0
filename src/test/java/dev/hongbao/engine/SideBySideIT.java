package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** On how many connections an owner settles. */
@ExtendWith(Servers.class)
class SideBySideIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    /** More than are settled together. */
    private static final int MANY = 600;

    @Test
    void littleIsSettledOnOneConnectionAndMuchOnTwo(TestServers servers) {
        // Given two shards, and who writes down on which connection each is settled
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "2"))) {
            engine.deposit("alice", 1_000_000);
            List<Packet> packets = List.of(packetOf(engine, 0), packetOf(engine, 1));
            books.execute("create table settled_by (shard integer, pid integer);"
                    + " create function note_settled_by() returns trigger language plpgsql security definer as $$"
                    + " begin insert into public.settled_by values (new.id, pg_backend_pid()); return null; end $$;"
                    + " create trigger note_settled_by after update of last_seq on shard"
                    + " for each row when (new.last_seq > old.last_seq) execute function note_settled_by()");

            // When one claims after the other
            for (int i = 0; i < 3; i++) {
                for (Packet packet : packets) {
                    assertThat(engine.claim(packet, "early-" + i).kind()).isEqualTo(Kind.CLAIMED);
                }
            }

            // Then
            assertThat(books.longOf("select count(distinct shard) from settled_by"))
                    .isEqualTo(2);
            assertThat(books.longOf("select count(distinct pid) from settled_by"))
                    .isEqualTo(1);

            // When a crowd waits at both
            books.execute("truncate settled_by");
            get(engine.engine().stopWriter());
            packets.forEach(packet -> assertThat(crowd(engine, packet)).allMatch(is -> is.kind() == Kind.ACCEPTED));
            get(engine.engine().startWriter());

            // Then each shard is settled on one connection, and no two on the same
            eventually(
                    SOON,
                    () -> assertThat(books.longOf("select count(*) from claim")).isEqualTo(2L * (MANY + 3)));
            assertThat(books.longOf("select count(distinct pid) from settled_by"))
                    .isEqualTo(2);
            assertThat(books.longOf("select count(distinct (shard, pid)) from settled_by"))
                    .isEqualTo(2);
            books.execute(
                    "drop trigger note_settled_by on shard; drop function note_settled_by; drop table settled_by");
        }
        books.assertReconciled();
    }

    @Test
    void oneShardIsSettledWhileTheOtherRecovers(TestServers servers) throws SQLException {
        // Given two shards, and a crowd that has claimed at both, of whom Redis has forgotten one
        Books books = new Books(servers);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "2"))) {
            engine.deposit("alice", 1_000_000);
            Packet whole = packetOf(engine, 0);
            Packet lost = packetOf(engine, 1);
            get(engine.engine().stopWriter());
            crowd(engine, whole);
            List<ClaimOutcome> accepted = crowd(engine, lost);
            List<String> generations = books.stamps();
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                redis.del(generations.get(1) + ":p:" + lost.id());
            }

            // When it recovers, and what it has to settle for that waits for a lock
            try (Connection holder = TestDatabase.lockRows(
                    servers.postgresOwnerUrl(),
                    "account where id = (select escrow from packet where id = '" + lost.id() + "')")) {
                get(engine.engine().startWriter());
                engine.loop(0).call(services -> services.claims.accept(member("user-0"), lost.id(), null));

                // Then all of the other shard is settled
                eventually(SOON, () -> assertThat(claims(books, whole)).isEqualTo(MANY));
                assertThat(engine.claim(whole, "late").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(claims(books, lost)).isZero();
                assertThat(holder.isClosed()).isFalse();
            }

            // When the lock is gone, Then each user has the answered share, in a new generation
            eventually(SOON, () -> assertThat(claims(books, lost)).isEqualTo(MANY));
            eventually(SOON, () -> assertThat(engine.claim(lost, "late").kind()).isEqualTo(Kind.CLAIMED));
            for (int i = 0; i < MANY; i += MANY / 10) {
                Claim settled = engine.claim(lost, "user-" + i).wonClaim();
                Claim told = accepted.get(i).wonClaim();
                assertThat(settled.slot()).isEqualTo(told.slot());
                assertThat(settled.amount()).isEqualTo(told.amount());
            }
            assertThat(books.stamps().get(0)).isEqualTo(generations.get(0));
            assertThat(books.stamps().get(1)).isNotEqualTo(generations.get(1));
        }
        books.assertReconciled();
    }

    private static long claims(Books books, Packet packet) {
        return books.longOf("select count(*) from claim where packet = '" + packet.id() + "'");
    }

    /** All at once, so in large entries of the journal: of small ones a page is little. */
    private static List<ClaimOutcome> crowd(TestEngine engine, Packet packet) {
        List<Future<ClaimOutcome>> crowd = get(engine.loop(0)
                .call(services -> Future.succeededFuture(IntStream.range(0, MANY)
                        .mapToObj(n -> services.claims.accept(member("user-" + n), packet.id(), null))
                        .toList())));
        return crowd.stream().map(TestEngine::get).toList();
    }

    private static Packet packetOf(TestEngine engine, int shard) {
        return Stream.generate(() -> engine.send("alice", 10_000, 1_000))
                .limit(50)
                .filter(packet -> packet.shard() == shard)
                .findFirst()
                .orElseThrow();
    }
}
