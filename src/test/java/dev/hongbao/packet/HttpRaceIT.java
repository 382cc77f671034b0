package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A race over real connections. */
@ExtendWith(Servers.class)
class HttpRaceIT {
    private static final int USERS = 2_000;
    private static final int TRIES = 3;
    private static final int SHARES = 100;

    @Test
    void twoThousandUsersTryThreeTimesEachForAHundredShares(TestServers servers) throws Exception {
        Vertx vertx = Vertx.vertx();
        try (TestServer server = TestServer.start(servers, Map.of("limits.claims-per-second", "0"))) {
            // Given
            HttpClient http = vertx.createHttpClient(
                    new HttpClientOptions(),
                    new PoolOptions().setHttp1MaxSize(200).setMaxWaitQueueSize(USERS * TRIES));
            Race race = new Race(http, server, new TokenSigner(server.secret(), null, null, Clock.systemUTC()));
            race.call(
                    "backend",
                    Role.SERVICE,
                    "/v1/accounts/alice/deposits",
                    Map.of("asset", "CNY", "amount", 5_000),
                    201);
            String packet = race.call(
                            "alice",
                            Role.USER,
                            "/v1/packets",
                            Map.of("group", "g", "kind", "lucky", "asset", "CNY", "amount", 5_000, "count", SHARES),
                            201)
                    .getString("id");

            // When
            List<Future<Race.Answer>> tries = new ArrayList<>();
            for (int i = 0; i < USERS * TRIES; i++) {
                tries.add(race.claim("racer-" + i % USERS, packet));
            }
            Future.all(tries).await(60, TimeUnit.SECONDS);

            // Then exactly the shares are won, and whoever won hears the same claim each time
            Map<String, JsonObject> won = new HashMap<>();
            for (Future<Race.Answer> asked : tries) {
                Race.Answer answer = asked.result();
                assertThat(answer.status()).as(answer.body().encode()).isIn(200, 201, 410);
                if (answer.status() != 410) {
                    JsonObject before = won.putIfAbsent(answer.user(), answer.body());
                    assertThat(answer.body()).isEqualTo(before == null ? answer.body() : before);
                }
            }
            assertThat(won).hasSize(SHARES);
            assertThat(won.values().stream()
                            .mapToLong(claim -> claim.getLong("amount"))
                            .sum())
                    .isEqualTo(5_000);
            new Books(servers).assertClean();
        } finally {
            vertx.close().await(10, TimeUnit.SECONDS);
        }
    }

    /** The calls of one race. */
    private record Race(HttpClient http, TestServer server, TokenSigner signer) {
        record Answer(String user, int status, JsonObject body) {}

        JsonObject call(String user, Role role, String path, Map<String, Object> body, int status) throws Exception {
            Answer answer = send(user, role, path, new JsonObject(body)).await(10, TimeUnit.SECONDS);
            assertThat(answer.status()).as(answer.body().encode()).isEqualTo(status);
            return answer.body();
        }

        Future<Answer> claim(String user, String packet) {
            return send(user, Role.USER, "/v1/packets/" + packet + "/claims", null);
        }

        private Future<Answer> send(String user, Role role, String path, JsonObject body) {
            String token = signer.sign(new UserId(user), Set.of(new GroupId("g")), role, Duration.ofMinutes(10));
            RequestOptions options = new RequestOptions()
                    .setMethod(HttpMethod.POST)
                    .setHost("127.0.0.1")
                    .setPort(server.base().getPort())
                    .setURI(path)
                    .putHeader("Authorization", "Bearer " + token);
            if (body != null) {
                options.putHeader("Content-Type", "application/json").putHeader("Idempotency-Key", "once");
            }
            return http.request(options)
                    .compose(request -> body == null ? request.send() : request.send(body.toBuffer()))
                    .compose(response -> response.body()
                            .map(bytes -> new Answer(user, response.statusCode(), new JsonObject(bytes))));
        }
    }
}
