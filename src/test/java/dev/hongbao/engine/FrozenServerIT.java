package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server that freezes, or falls silent, while it moves money: it must not hold what others need. */
@ExtendWith(Servers.class)
class FrozenServerIT {
    private static final int USERS = 20;
    private static final Map<String, String> OPTIONS = Map.of("shards", "4");

    @Test
    void depositsWithdrawalsAndSendsOfASilentServerHoldNobodyUp(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers);
                TestEngine owner = TestEngine.start(servers, 1, OPTIONS)) {
            try (TestEngine other = TestEngine.start(PostgresLine.stores(line, servers), 1, OPTIONS)) {
                // Given a server that owns nothing, and moves the money of many without a pause
                get(other.engine().stopWriter());
                owner.deposit("alice", 1_000_000);
                IntStream.range(0, USERS).forEach(i -> owner.deposit("u" + i, 1_000_000));
                Packet packet = owner.send("alice", 1_000_000, USERS);
                AtomicInteger moved = new AtomicInteger();
                AtomicBoolean stopped = new AtomicBoolean();
                IntStream.range(0, USERS).forEach(i -> moveOn(other, i, moved, stopped));
                eventually(Duration.ofSeconds(20), () -> assertThat(moved).hasValueGreaterThan(100));

                // When it falls silent in the middle
                line.fallSilent();
                stopped.set(true);

                // Then everybody whose money it moved can claim elsewhere
                List<Future<ClaimOutcome>> claims = IntStream.range(0, USERS)
                        .mapToObj(i -> owner.claim(0, packet, "u" + i))
                        .toList();
                assertThat(claims)
                        .allSatisfy(claim -> assertThat(get(claim).kind()).isEqualTo(Kind.CLAIMED));
                line.close();
            }
            new Books(servers).assertClean();
        }
    }

    /** Deposits, withdraws, sends, and again. */
    private static void moveOn(TestEngine engine, int user, AtomicInteger moved, AtomicBoolean stopped) {
        UserId id = new UserId("u" + user);
        int turn = moved.get() + user;
        Future<?> move = switch (turn % 3) {
            case 0 -> engine.engine().wallets.deposit(TestEngine.BACKEND, id, CNY, 10, newKey());
            case 1 -> engine.engine().wallets.withdraw(TestEngine.BACKEND, id, CNY, 10, newKey());
            default ->
                engine.loop(0)
                        .call(services ->
                                services.packets.send(member("u" + user), lucky(10, 2, Duration.ofHours(1)), newKey()));
        };
        move.onSuccess(done -> {
            moved.incrementAndGet();
            if (!stopped.get()) {
                moveOn(engine, user, moved, stopped);
            }
        });
    }
}
