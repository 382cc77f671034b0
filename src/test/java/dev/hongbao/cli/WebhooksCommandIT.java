package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a developer sees of the events beside a server at work. */
@ExtendWith(Servers.class)
class WebhooksCommandIT {
    @Test
    void theTailPrintsAnEventALine(TestServers stores) {
        try (TestEngine engine = TestEngine.start(stores, 1, Map.of())) {
            engine.deposit("alice", 100);
            Packet packet = engine.send("alice", 100, 1);
            engine.claim(packet, "bob");

            Typed tail = Typed.on(stores, "webhooks", "tail", "--all", "--count", "4");

            assertThat(tail.exit()).as(tail.err()).isZero();
            List<String> types = tail.out()
                    .lines()
                    .map(line -> new JsonObject(line).getString("type"))
                    .toList();
            assertThat(types).containsExactly("transfer.deposit", "packet.sent", "claim.settled", "packet.drained");
        }
    }
}
