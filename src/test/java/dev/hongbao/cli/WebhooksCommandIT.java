package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.packet.Packet;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a developer sees of the news beside a server at work. */
@ExtendWith(Servers.class)
class WebhooksCommandIT {
    @Test
    void theTailPrintsAnEventALine(TestServers stores) {
        try (TestEngine engine = TestEngine.start(stores, 1, Map.of())) {
            engine.deposit("alice", 100);
            Packet packet = engine.send("alice", 100, 1);
            engine.claim(packet, "bob");
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();

            int exit = Hongbao.run(
                    Map.of(),
                    null,
                    config -> {
                        throw new AssertionError("nothing is served");
                    },
                    new PrintWriter(out, true),
                    new PrintWriter(err, true),
                    "webhooks",
                    "tail",
                    "--all",
                    "--count",
                    "4",
                    "--redis-url",
                    stores.redisUrl(),
                    "--postgres-url",
                    stores.postgresAppUrl(),
                    "--postgres-owner-url",
                    stores.postgresOwnerUrl());

            assertThat(exit).as(err.toString()).isZero();
            List<String> types = out.toString()
                    .lines()
                    .map(line -> new JsonObject(line).getString("type"))
                    .toList();
            assertThat(types).containsExactly("transfer.deposit", "packet.sent", "claim.settled", "packet.drained");
        }
    }
}
