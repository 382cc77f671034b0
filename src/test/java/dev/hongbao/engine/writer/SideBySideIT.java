package dev.hongbao.engine.writer;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

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
            for (Packet packet : packets) {
                // In large entries of the journal: of small ones a page is little.
                List<Future<ClaimOutcome>> crowd = get(engine.loop(0)
                        .call(services -> Future.succeededFuture(IntStream.range(0, MANY)
                                .mapToObj(n -> services.claims().accept(member("user-" + n), packet.id(), null))
                                .toList())));
                assertThat(crowd.stream().map(TestEngine::get)).allMatch(outcome -> outcome.kind() == Kind.ACCEPTED);
            }
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

    private static Packet packetOf(TestEngine engine, int shard) {
        return Stream.generate(() -> engine.send("alice", 10_000, 1_000))
                .limit(50)
                .filter(packet -> packet.shard() == shard)
                .findFirst()
                .orElseThrow();
    }
}
