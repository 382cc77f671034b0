package dev.hongbao.claim;

import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Claims on real stores, without a face. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClaimIT {
    private TestEngine engine;

    @BeforeAll
    void start(TestServers servers) {
        engine = TestEngine.start(servers, 2, Map.of());
        engine.deposit("alice", 1_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private Future<ClaimOutcome> claim(int loop, Packet packet, String user) {
        return engine.loop(loop)
                .call(services ->
                        services.claims().claim(member(user), packet.id(), null).settled());
    }

    @Test
    void aClaimIsSettledIntoTheWallet() {
        // Given
        Packet packet = engine.send("alice", 1000, 3);

        // When
        ClaimOutcome outcome = get(claim(0, packet, "bob"));

        // Then
        assertThat(outcome.kind()).isEqualTo(Kind.CLAIMED);
        assertThat(engine.balance("bob")).isEqualTo(outcome.wonClaim().amount());
    }

    @Test
    void twoThousandRaceForAHundred() {
        // Given
        Packet packet = engine.send("alice", 10_000, 100);

        // When
        List<Future<ClaimOutcome>> tries = new ArrayList<>();
        for (int i = 0; i < 6000; i++) {
            tries.add(claim(i, packet, "racer" + i % 2000));
        }
        List<ClaimOutcome> outcomes = tries.stream().map(TestEngine::get).toList();

        // Then
        assertThat(outcomes.stream().filter(o -> o.kind() == Kind.CLAIMED)).hasSize(100);
    }
}
