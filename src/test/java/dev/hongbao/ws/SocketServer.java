package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The whole server for tests of the socket: tokens, money, and what pollers see. */
final class SocketServer implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final TestServer server;

    private SocketServer(TestServer server) {
        this.server = server;
    }

    static SocketServer start(TestServers stores, Map<String, String> options) {
        Map<String, String> all = new HashMap<>(Map.of(
                "limits.claims-per-second", "0",
                "limits.requests-per-second", "0",
                "limits.calls-in-flight", "0",
                "limits.polls-in-flight", "0",
                "http.event-loops", "2"));
        all.putAll(options);
        return new SocketServer(TestServer.start(stores, all));
    }

    URI base() {
        return server.base();
    }

    String token(String user, String... groups) {
        return token(user, Duration.ofHours(1), Role.USER, groups);
    }

    String token(String user, Duration life, Role role, String... groups) {
        return new TokenSigner(server.secret(), null, null, Clock.systemUTC())
                .sign(new UserId(user), Stream.of(groups).map(GroupId::new).toList(), role, life);
    }

    /** A user's token, good for an hour. @param issuedAt what it says of when it was made; null: nothing */
    String tokenOf(String user, Instant issuedAt) {
        try {
            SignedJWT token = new SignedJWT(
                    new JWSHeader(JWSAlgorithm.HS256),
                    new JWTClaimsSet.Builder()
                            .subject(user)
                            .issueTime(issuedAt == null ? null : Date.from(issuedAt))
                            .expirationTime(Date.from(Instant.now().plusSeconds(3600)))
                            .build());
            token.sign(new MACSigner(server.secret()));
            return token.serialize();
        } catch (JOSEException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** A socket of a user who is in these groups. */
    FrameClient connect(String user, String... groups) {
        return connectWith(token(user, groups));
    }

    FrameClient connectWith(String token) {
        FrameClient client = FrameClient.open(base());
        assertThat(client.authenticate(token).getString("type")).isEqualTo("authenticated");
        return client;
    }

    /** Of the host application, {@code shop}. */
    String backend(String... groups) {
        return token("shop", Duration.ofMinutes(5), Role.SERVICE, groups);
    }

    void deposit(String user, long amount) {
        JsonObject body = new JsonObject().put("asset", "CNY").put("amount", amount);
        post(
                "bank",
                Role.SERVICE,
                "/v1/accounts/" + user + "/deposits",
                UUID.randomUUID().toString(),
                body);
    }

    /** Posts as whose token it is, under a key of its own. @param body null for none */
    JsonObject post(String path, String token, @Nullable JsonObject body) {
        return post(path, token, UUID.randomUUID().toString(), body);
    }

    /** Makes a draw that closes years from now. @return its id */
    String draw(String json) {
        return make("/v1/draws", new JsonObject(json).put("name", "wheel").put("closesAt", "2035-01-01T00:00:00Z"));
    }

    /** Makes a campaign of the bank, an hour long. @return its id */
    String campaign(String json) {
        JsonObject body = new JsonObject(json).put("name", "Shoes").put("asset", "CNY");
        deposit("bank", body.getLong("budget"));
        return make(
                "/v1/campaigns",
                body.put("endsAt", Instant.now().plusSeconds(3600).toString()));
    }

    private String make(String path, JsonObject body) {
        return post("bank", Role.SERVICE, path, UUID.randomUUID().toString(), body)
                .getString("id");
    }

    private JsonObject post(String user, Role role, String path, String key, JsonObject body, String... groups) {
        return post(path, token(user, Duration.ofHours(1), role, groups), key, body);
    }

    JsonObject post(String path, String token, String key, @Nullable JsonObject body) {
        return call(HttpRequest.newBuilder(server.base().resolve(path))
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode())));
    }

    /** Plays over HTTP. */
    JsonObject play(String user, String draw, String key, int plays, String... groups) {
        JsonObject body = new JsonObject().put("plays", plays);
        return post(user, Role.USER, "/v1/draws/" + draw + "/plays", key, body, groups);
    }

    /** A page of a group's feed. */
    JsonObject events(String user, String group, String after, int waitSeconds) {
        return call(HttpRequest.newBuilder(server.base()
                        .resolve("/v1/groups/" + group + "/events" + (after == null ? "" : "?after=" + after)))
                .header("Authorization", "Bearer " + token(user, group))
                .header("Prefer", "wait=" + waitSeconds));
    }

    /** Claims over HTTP. @param preferences as the header says; none waits for the settlement */
    JsonObject claim(String user, String group, String packet, String... preferences) {
        return call(HttpRequest.newBuilder(server.base().resolve("/v1/packets/" + packet + "/claims"))
                .header("Authorization", "Bearer " + token(user, group))
                .header("Prefer", String.join(", ", preferences))
                .POST(BodyPublishers.noBody()));
    }

    /** What a call without a body answers. */
    JsonObject get(String path, String token) {
        return call(HttpRequest.newBuilder(server.base().resolve(path)).header("Authorization", "Bearer " + token));
    }

    /** A metric's value; 0 when it is not there. */
    double metric(String name, String... labels) {
        double sum = Exposition.of(server.management()).sum(name, labels);
        return Double.isNaN(sum) ? 0 : sum;
    }

    private static JsonObject call(HttpRequest.Builder request) {
        try {
            var response = HTTP.send(request.build(), BodyHandlers.ofString());
            if (response.statusCode() >= 400) {
                throw new AssertionError(response.statusCode() + " " + response.body());
            }
            return new JsonObject(response.body());
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** A send frame's fields. */
    static JsonObject send(String group, long amount, int count) {
        return new JsonObject()
                .put("key", UUID.randomUUID().toString())
                .put(
                        "packet",
                        new JsonObject()
                                .put("group", group)
                                .put("kind", "lucky")
                                .put("asset", "CNY")
                                .put("amount", amount)
                                .put("count", count));
    }

    static JsonObject claimOf(String packet) {
        return new JsonObject().put("packet", packet);
    }

    @Override
    public void close() {
        server.close();
    }
}
