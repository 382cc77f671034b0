package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** The whole server as a user of Redis who may call nothing but what the guide says. */
@ExtendWith(Servers.class)
class RedisPermissionsIT extends TestServerClient {
    private static String restricted;

    @BeforeAll
    static void start(TestServers given) {
        URI redis = URI.create(given.redisUrl());
        restricted = "redis://guest:secret@" + redis.getHost() + ":" + redis.getPort();
        try (Jedis admin = new Jedis(redis)) {
            List<String> rules = new ArrayList<>(List.of("on", ">secret"));
            rules.addAll(List.of(EmbeddedRedis.RULES.split(" ")));
            admin.aclSetUser("guest", rules.toArray(String[]::new));
            admin.aclLogReset();
        }
        serve(given, Map.of("redis.url", restricted, "limits.claims-per-second", "1000"));
    }

    @Test
    void claimsPlaysRecoveryAndTheAuditNeedNothingElse() throws Exception {
        try (Jedis admin = new Jedis(URI.create(servers.redisUrl()))) {
            // Given a packet with a passcode that some guess wrong, and one that ends
            String packet = send(packet("lucky", 1_000, 10).put("passcode", "open sesame"));
            assertProblem(claim("eve", packet, "open"), 403, "wrong-passcode");
            String first = json(claim("bob", packet, "open sesame"), 201).encode();
            String drained = send("equal", 10, 1);
            json(claim("bob", drained), 201);
            assertProblem(claim("carol", drained), 410, "drained");

            // Given a draw with a schedule and a limit
            String draw = json(post(null, "/v1/draws", UUID.randomUUID().toString(), new JsonObject("""
                                    {"name": "wheel", "mode": "table", "whenExhausted": "stop", "closesAt": "2035-01-01T00:00:00Z",
                                     "prizes": [{"name": "a", "count": 7}, {"name": "b", "count": 93}]}
                                    """)), 201)
                    .getString("id");
            play(draw);

            // When Redis has lost everything
            admin.flushAll();
            eventually(() -> claim("dave", packet, "open sesame").statusCode() < 300);

            // Then who had won has won, others go on, and the books are right
            assertThat(json(claim("bob", packet, "open sesame"), 200).encode()).isEqualTo(first);
            play(draw);
            StoreAddresses stores = new StoreAddresses(
                    restricted,
                    PostgresAddress.of(servers.postgresOwnerUrl()),
                    PostgresAddress.of(servers.postgresAppUrl()));
            assertThat(Operations.reconcile(stores, found -> {})).allMatch(Finding::isClean);

            // And Redis refused nothing
            assertThat(admin.aclLog()).isEmpty();
        }
    }

    private void play(String draw) throws Exception {
        eventually(() -> post(
                                "player",
                                "/v1/draws/" + draw + "/plays",
                                UUID.randomUUID().toString(),
                                new JsonObject().put("plays", 3))
                        .statusCode()
                == 201);
    }
}
