package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The packets of all connections to Postgres are dropped, and acknowledged by a proxy between: only silence tells. */
@ExtendWith(Servers.class)
class SilentPostgresIT {
    private static final int POOL = 8;

    @Test
    void itSettlesAgainSoonAndEveryConnectionOfThePoolIsMadeAnew(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            try (TestEngine engine = TestEngine.start(
                    PostgresLine.stores(line, servers), 1, Map.of("shards", "4", "postgres.pool-size", "" + POOL))) {
                // Given a pool that is full, and a writer that has settled
                engine.deposit("alice", 100_000);
                Packet packet = engine.send("alice", 1000, 100);
                assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                get(Future.all(IntStream.range(0, POOL)
                        .mapToObj(n -> engine.engine()
                                .pool()
                                .query("select pg_sleep(0.3)")
                                .execute())
                        .toList()));

                // When
                line.swallow();

                // Then
                eventually(
                        Duration.ofSeconds(20),
                        () -> assertThat(engine.claim(packet, "carol").claim()).isNotNull());
                eventually(Duration.ofSeconds(20), () -> {
                    for (int i = 0; i < 2 * POOL; i++) {
                        engine.deposit("alice", 1);
                    }
                });
                eventually(Duration.ofSeconds(5), new Books(servers)::assertJournalsEmpty);
            }
            new Books(servers).assertClean();
        }
    }
}
