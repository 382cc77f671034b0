package dev.hongbao.ws;

import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A rain over the socket, on two servers: one makes it, on the other one it is followed and caught. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketRainIT {
    private TestServers stores;
    private SocketServer server;
    private SocketServer other;

    @BeforeAll
    void start(TestServers given) {
        stores = given;
        server = SocketServer.start(given, Map.of());
        other = SocketServer.start(given, Map.of());
        server.deposit("host", 100_000);
    }

    @AfterAll
    void stop() {
        other.close();
        server.close();
        new Books(stores).assertReconciled();
    }

    private JsonObject rain(JsonObject whom) {
        return server.post(
                "/v1/rains",
                host(),
                new JsonObject("""
                    {"name": "New Year", "asset": "CNY", "budget": 3600, "durationSeconds": 60,
                     "drops": 120, "sharesPerDrop": 1, "catchesPerUser": 1}
                    """)
                        .put("startsAt", Instant.now().plusMillis(300).toString())
                        .mergeIn(whom));
    }

    private String host() {
        return server.token("host", Duration.ofHours(1), Role.SERVICE);
    }

    private static String dropOf(JsonObject event) {
        return event.getJsonObject("data").getJsonObject("packet").getString("id");
    }

    @Test
    void itsGroupsFollowItsChannelAndCatchAndEverybodyWhatIsPublic() {
        try (FrameClient ann = other.connect("ann", "family");
                FrameClient ben = other.connect("ben", "family");
                FrameClient eve = other.connect("eve", "strangers");
                FrameClient zoe = other.connect("zoe")) {
            ann.join("family");

            // When
            JsonObject rain = rain(new JsonObject().put("groups", new JsonArray().add("family")));
            String everybodys = rain(new JsonObject().put("everyone", true)).getString("channel");

            // Then who is in one of its groups joins its channel, and everybody that of a public one
            JsonObject announced = ann.event("rain.announced").getJsonObject("data");
            String channel = announced.getString("channel");
            assertThat(channel).isEqualTo(rain.getString("channel"));
            assertThat(ann.join(channel, "0").getString("type")).isEqualTo("joined");
            assertThat(ben.join(channel).getString("type")).isEqualTo("joined");
            assertThat(kind(eve.join(channel))).isEqualTo("not-eligible");
            assertThat(kind(eve.join(channel, "0"))).isEqualTo("not-eligible");
            assertThat(zoe.join(everybodys, "0").getString("type")).isEqualTo("joined");
            assertThat(zoe.event("rain.started").getString("group")).isEqualTo(everybodys);

            // When drops fall, then each catches one of them
            String first = dropOf(ann.event("packet.sent"));
            assertCatches(ann, first);
            String second = dropOf(ann.event("packet.sent"));
            assertThat(kind(ann.ask("claim", SocketServer.claimOf(second)))).isEqualTo("limited");
            assertThat(kind(eve.ask("claim", SocketServer.claimOf(second)))).isEqualTo("not-eligible");
            assertCatches(ben, second);
            assertCatches(zoe, dropOf(zoe.event("packet.sent")));
            assertThat(caught(zoe.event("rain.caught")).getInteger("count")).isEqualTo(1);

            // When the host ends it, then its followers hear of it
            server.post("/v1/rains/" + rain.getString("id") + "/cancel", host(), null);
            JsonObject all = new JsonObject().put("count", 2).put("amount", 60);
            for (FrameClient each : new FrameClient[] {ann, ben}) {
                assertThat(caught(each.event("rain.ended"))).isEqualTo(all);
            }

            // When ann's next token does not name the group any more
            JsonObject fresh = new JsonObject().put("token", other.token("ann", "strangers"));
            ann.request("auth", fresh);

            // Then she follows neither the group nor the channel
            assertThat(ann.await(frame ->
                            frame.getString("type").equals("left") && channel.equals(frame.getString("group"))))
                    .isNotNull();
        }
    }

    private static void assertCatches(FrameClient client, String drop) {
        assertThat(client.ask("claim", SocketServer.claimOf(drop)).getString("type"))
                .isIn("claim.accepted", "claim.settled");
    }

    private static JsonObject caught(JsonObject event) {
        return event.getJsonObject("data").getJsonObject("caught");
    }
}
