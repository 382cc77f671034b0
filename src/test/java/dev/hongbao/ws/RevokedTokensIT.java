package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A user's tokens are revoked at one server, and are void at each. */
@ExtendWith(Servers.class)
class RevokedTokensIT {
    private static final String WHY = "made before the user's tokens were revoked";

    /** A row for each who waits for an advisory lock of this session. */
    private static final String WAITS = "select from pg_locks as h join pg_locks as w using (database, classid, objid)"
            + " where h.pid = pg_backend_pid() and h.locktype = 'advisory' and not w.granted";

    private static TestServers stores;
    private static SocketServer one;
    private static SocketServer other;

    @BeforeAll
    static void start(TestServers given) {
        stores = given;
        one = SocketServer.start(given, Map.of());
        other = SocketServer.start(given, Map.of());
    }

    @AfterAll
    static void stop() {
        one.close();
        other.close();
    }

    private static Instant revoke(String user, String key, JsonObject body) {
        JsonObject revoked = one.post("/v1/users/" + user + "/revoke-tokens", one.backend(), key, body);
        assertThat(revoked.getString("user")).isEqualTo(user);
        return Instant.parse(revoked.getString("notBefore"));
    }

    private static void assertRefused(SocketServer server, String token) {
        assertThatThrownBy(() -> server.get("/v1/me/balances", token))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("401")
                .hasMessageContaining(WHY);
    }

    @Test
    void everyTokenOfBeforeIsVoidAtEveryServerAndItsSocketsAreClosed() {
        // Given a user with a token that both servers believe, and a socket at each; and somebody else
        String stolen = one.tokenOf("eve", Instant.now().minusSeconds(60));
        one.get("/v1/me/balances", stolen);
        other.get("/v1/me/balances", stolen);
        FrameClient here = one.connectWith(stolen);
        FrameClient there = other.connectWith(stolen);
        FrameClient bystander = other.connectWith(other.tokenOf("fay", null));

        // When
        Instant asked = Instant.now();
        Instant notBefore = revoke("eve", "k-eve", new JsonObject().put("reason", "a stolen phone"));

        // Then it is void here at once, and there soon; so are those of the second of the call, and those that do not
        // say
        assertThat(notBefore).isBetween(asked.minusSeconds(5), asked.plusSeconds(30));
        assertThat(notBefore.getNano()).isZero();
        assertRefused(one, stolen);
        assertRefused(one, one.tokenOf("eve", notBefore.minusSeconds(1)));
        assertRefused(one, one.tokenOf("eve", null));
        eventually(Duration.ofSeconds(10), () -> assertRefused(other, stolen));
        assertThat(here.closeCode()).isEqualTo(4002);
        assertThat(there.closeCode()).isEqualTo(4002);
        FrameClient again = FrameClient.open(other.base());
        JsonObject refused = again.authenticate(stolen);
        assertThat(FrameClient.kind(refused)).isEqualTo("unauthenticated");
        assertThat(refused.getJsonObject("error").getString("detail")).contains(WHY);
        assertThat(again.closeCode()).isEqualTo(4002);

        // And a new one is good, as are those of others
        String fresh = one.tokenOf("eve", notBefore);
        one.get("/v1/me/balances", fresh);
        other.get("/v1/me/balances", fresh);
        FrameClient back = other.connectWith(fresh);
        assertThat(bystander.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");

        // And a server that starts knows it before its first call
        try (SocketServer late = SocketServer.start(stores, Map.of())) {
            assertRefused(late, stolen);
            late.get("/v1/me/balances", fresh);
        }
        back.close();
        bystander.close();
    }

    @Test
    void oneOfNowThatWaitedForAnotherIsRepeatedToo() throws SQLException {
        CompletableFuture<Instant> first;
        try (Connection other = TestDatabase.connect(stores.postgresOwnerUrl());
                Statement statement = other.createStatement()) {
            // Given one that waits for longer than its moment is rounded up
            statement.execute("select pg_advisory_lock(hashtextextended('revoke_tokens', 0))");
            first = CompletableFuture.supplyAsync(() -> revoke("ida", "k-ida", new JsonObject()));
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(statement.executeQuery(WAITS).next()).isTrue());
            statement.execute("select pg_sleep(1.2)");
        }
        Instant notBefore = first.join();

        // When, Then
        assertThat(revoke("ida", "k-ida", new JsonObject())).isEqualTo(notBefore);
    }

    @Test
    void itIsDoneOnceForAKeyAndToldOfTheUser() {
        Instant first = revoke("gil", "k-gil", new JsonObject().put("reason", "lost"));

        assertThat(revoke("gil", "k-gil", new JsonObject().put("reason", "lost")))
                .isEqualTo(first);
        assertThatThrownBy(() -> revoke("gil", "k-gil", new JsonObject().put("reason", "stolen")))
                .hasMessageStartingWith("422")
                .hasMessageContaining("idempotency-key-reused");
        assertThatThrownBy(() -> revoke("hal", "k-gil", new JsonObject().put("reason", "lost")))
                .hasMessageStartingWith("422");
        JsonObject told = one.get("/v1/users/gil", one.backend()).getJsonObject("revoked");
        assertThat(told.getString("by") + " " + told.getString("reason")).isEqualTo("shop lost");
        assertThat(Instant.parse(told.getString("notBefore"))).isEqualTo(first);
        assertThat(one.get("/v1/users/hal", one.backend()).getValue("revoked")).isNull();
        assertThat(one.get("/v1/audit?limit=200", one.backend()).encode())
                .contains("\"route\":\"/v1/users/{user}/revoke-tokens\",\"subject\":\"gil\"");
    }

    @Test
    void theMomentIsOfTheClockThatMakesTheTokensWhenItIsSaid() {
        // Given tokens of a clock that is ahead
        Instant ahead = Instant.now().plusSeconds(120);
        Instant second = Instant.ofEpochSecond(ahead.getEpochSecond());
        String stolen = one.tokenOf("ivy", second);

        // When the moment is within the second in which it was made
        Instant notBefore = revoke(
                "ivy",
                "k-ivy",
                new JsonObject().put("before", second.plusMillis(1).toString()));

        // Then it is void, and an earlier moment brings nothing back
        assertThat(notBefore).isEqualTo(second.plusSeconds(1));
        assertRefused(one, stolen);
        revoke("ivy", "k-ivy-2", new JsonObject());
        assertRefused(one, stolen);
        one.get("/v1/me/balances", one.tokenOf("ivy", notBefore));
        assertThatThrownBy(() -> revoke(
                        "ivy",
                        "k-ivy-3",
                        new JsonObject()
                                .put("before", Instant.now().plusSeconds(400).toString())))
                .hasMessageStartingWith("400")
                .hasMessageContaining("#/before")
                .hasMessageContaining("5 minutes");
    }

    /** Who asks for now after having asked for a while ago would believe that what was made since is void. */
    @Test
    void underOneKeyNowIsNotAMomentOfBefore() {
        Instant past = Instant.now().minusSeconds(60);
        revoke("lea", "k-lea", new JsonObject().put("before", past.toString()));
        Instant now = revoke("mia", "k-mia", new JsonObject());

        assertThatThrownBy(() -> revoke("lea", "k-lea", new JsonObject())).hasMessageStartingWith("422");
        assertThat(revoke("lea", "k-lea", new JsonObject().put("before", past.toString())))
                .isBefore(now);
        assertThat(revoke("mia", "k-mia", new JsonObject())).isEqualTo(now);
    }

    @Test
    void theBackendsOwnTokensAreRevokedAndNoUserRevokes() {
        String leaked = one.token("job", Duration.ofMinutes(5), Role.SERVICE);
        one.get("/v1/users/kim", leaked);

        assertThatThrownBy(() -> one.post("/v1/users/job/revoke-tokens", one.token("kim"), "k-kim", new JsonObject()))
                .hasMessageStartingWith("403");
        Instant notBefore = revoke("job", "k-job", new JsonObject());

        assertThatThrownBy(() -> one.get("/v1/users/kim", leaked)).hasMessageStartingWith("401");
        assertThat(notBefore).isNotNull();
    }
}
