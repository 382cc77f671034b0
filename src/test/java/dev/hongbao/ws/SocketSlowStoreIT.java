package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres answers nothing for a while: who waits on a socket is told. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketSlowStoreIT {
    private TestServers stores;
    private SocketServer server;

    @BeforeAll
    void start(TestServers given) {
        stores = given;
        server = SocketServer.start(given, Map.of("limits.calls-in-flight", "3", "postgres.pool-size", "8"));
        server.deposit("carol", 1000);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    void aSendAndAJoinAreAnsweredUnknownAndTheRepeatedSendHappensOnce() throws SQLException {
        try (SocketServer hasty = SocketServer.start(stores, Map.of("http.answer-timeout", "1s"));
                FrameClient alice = hasty.connect("alice", "g")) {
            // Given
            hasty.deposit("alice", 100);
            JsonObject send = SocketServer.send("g", 60, 3);
            try (Connection locked = TestDatabase.lock(stores.postgresOwnerUrl(), "account")) {
                // When, Then
                String sending = alice.request("send", send);
                String joining = alice.request("join", new JsonObject().put("group", "g"));
                assertThat(kind(alice.answer(sending))).isEqualTo("unknown");
                assertThat(kind(alice.answer(joining))).isEqualTo("unknown");
            }
            JsonObject sent = alice.ask("send", send);
            assertThat(sent.getString("type")).isEqualTo("sent");
            assertThat(alice.ask("send", send).getJsonObject("packet")).isEqualTo(sent.getJsonObject("packet"));
            new Books(stores).assertClean();
        }
    }

    @Test
    void aJoinIsRefusedWhenAnotherTokenHasLostTheGroupMeanwhile() throws SQLException {
        try (FrameClient alice = server.connect("alice", "g")) {
            // Given a join that waits
            String join;
            try (Connection locked = TestDatabase.lock(stores.postgresOwnerUrl(), "account")) {
                join = alice.request("join", new JsonObject().put("group", "g"));

                // When
                assertThat(alice.authenticate(server.token("alice", "h")).getString("type"))
                        .isEqualTo("authenticated");
            }

            // Then
            JsonObject refused = alice.answer(join);
            assertThat(kind(refused)).isEqualTo("not-eligible");
            assertThat(refused.getJsonObject("error").getString("reason")).isEqualTo("group");
        }
    }

    @Test
    void whoFollowsManyGroupsFromLongAgoLeavesRoomForOthers() throws SQLException {
        String[] groups = IntStream.range(0, 10).mapToObj(i -> "far" + i).toArray(String[]::new);
        try (FrameClient carol = server.connect("carol", groups);
                FrameClient bob = server.connect("bob", "g")) {
            // Given ten groups with an event each, and a table of them that nobody may read for a while
            String packet = "";
            for (String group : groups) {
                packet = carol.ask("send", SocketServer.send(group, 10, 2))
                        .getJsonObject("packet")
                        .getString("id");
            }
            Books books = new Books(stores);
            eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(books.longOf("select count(*) from unannounced"))
                            .isZero());
            try (Connection app = TestDatabase.connect(stores.postgresAppUrl());
                    Connection locked = TestDatabase.lock(stores.postgresOwnerUrl(), "group_event")) {
                // When
                for (String group : groups) {
                    assertThat(carol.join(group, "0").getString("type")).isEqualTo("joined");
                }
                eventually(
                        Duration.ofSeconds(5),
                        () -> assertThat(readsThatWait(app)).isEqualTo(3));

                // Then
                assertThat(kind(bob.ask(
                                "play", new JsonObject().put("draw", packet).put("key", "k"))))
                        .isEqualTo("not-found");
            }

            // And each is told in the end
            for (int i = 0; i < groups.length; i++) {
                carol.event("packet.sent");
            }
        }
    }

    /** Those of feeds; only their own role sees what they are. */
    private static long readsThatWait(Connection app) throws SQLException {
        try (Statement statement = app.createStatement();
                ResultSet rows =
                        statement.executeQuery("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                + " and datname = current_database() and query like '%join feed as f%'")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @Test
    void whoHasTooManyCallsUnderWayIsToldSoAndThoseUnderWayAreAnswered() throws SQLException {
        try (FrameClient one = server.connect("carol", "g");
                FrameClient two = server.connect("carol", "g");
                FrameClient bob = server.connect("bob", "g")) {
            // Given somebody on two sockets, and a table that nobody may read for a while
            String packet = one.ask("send", SocketServer.send("g", 10, 2))
                    .getJsonObject("packet")
                    .getString("id");
            List<String> underWay = new ArrayList<>();
            try (Connection locked = TestDatabase.lock(stores.postgresOwnerUrl(), "account")) {
                for (int i = 0; i < 3; i++) {
                    underWay.add(one.request("send", SocketServer.send("g", 10, 2)));
                }
                assertThat(one.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");

                // When
                JsonObject fourth = one.ask("send", SocketServer.send("g", 10, 2));
                JsonObject elsewhere = two.ask("join", new JsonObject().put("group", "g"));

                // Then
                for (JsonObject refused : List.of(fourth, elsewhere)) {
                    assertThat(kind(refused)).isEqualTo("too-many-requests");
                    JsonObject problem = refused.getJsonObject("error");
                    assertThat(problem.getInteger("status")).isEqualTo(429);
                    assertThat(problem.getString("detail")).contains("3 calls");
                    assertThat(problem.getInteger("retryAfterSeconds")).isEqualTo(1);
                }

                // And claims are not counted, nor is anybody else
                assertThat(two.ask("claim", SocketServer.claimOf(packet)).getString("type"))
                        .isEqualTo("claim.accepted");
                assertThat(kind(bob.ask(
                                "play", new JsonObject().put("draw", packet).put("key", "k"))))
                        .isEqualTo("not-found");
            }

            // And
            underWay.forEach(id -> assertThat(one.answer(id).getString("type")).isEqualTo("sent"));
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(two.join("g").getString("type")).isEqualTo("joined"));
            new Books(stores).assertClean();
        }
    }
}
