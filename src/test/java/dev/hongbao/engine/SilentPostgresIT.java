package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.Sockets;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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

    @Test
    void itServesAgainThoughNoConnectOfTheSilentTimeIsEverAnsweredOrClosed(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            try (TestEngine engine = TestEngine.start(
                    PostgresLine.stores(line, servers), 1, Map.of("shards", "4", "postgres.pool-size", "" + POOL))) {
                // Given
                engine.deposit("alice", 100_000);
                Packet packet = engine.send("alice", 1000, 100);
                assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);

                // When every connection has to be made anew, and a connect gets no answer for 8 s, and never hears of
                // its end
                line.fallSilent();
                line.breakConnections();
                List<Future<?>> tries = IntStream.rangeClosed(1, 8)
                        .<Future<?>>mapToObj(second -> engine.vertx()
                                .timer(second, TimeUnit.SECONDS)
                                .compose(now ->
                                        engine.engine().pool().query("select 1").execute()))
                        .toList();
                get(engine.vertx().timer(8, TimeUnit.SECONDS));
                line.comeBack();

                // Then
                eventually(
                        Duration.ofSeconds(15),
                        () -> assertThat(engine.claim(packet, "carol").claim()).isNotNull());
                eventually(
                        Duration.ofSeconds(15),
                        () -> get(Future.all(IntStream.range(0, POOL)
                                .mapToObj(n -> engine.engine()
                                        .pool()
                                        .query("select pg_sleep(0.3)")
                                        .execute())
                                .toList())));
                get(Future.join(tries).otherwiseEmpty());
                eventually(
                        Duration.ofSeconds(15),
                        () -> assertThat(Sockets.halfClosedTo(line.port())).isEmpty());
                eventually(Duration.ofSeconds(5), new Books(servers)::assertJournalsEmpty);
            }
            new Books(servers).assertClean();
        }
    }
}
