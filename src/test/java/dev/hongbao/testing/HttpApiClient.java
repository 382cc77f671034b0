package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** A client of a running server for one test: its users and its group have names that no other test has. */
public abstract class HttpApiClient {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final String run = UUID.randomUUID().toString().substring(0, 8);
    public final String group = "group-" + run;

    /** Where the server listens, {@code http://host:port}. */
    public abstract URI base();

    /** The secret it verifies tokens with. */
    public abstract byte[] secret();

    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Exception;
    }

    /** Asks again, paced by real requests, for at most ten seconds. */
    public static void eventually(Condition condition) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("ten seconds have passed").isLessThan(deadline);
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
    }

    public final String name(String user) {
        return user + "-" + run;
    }

    /** Moves money into a user's wallet. */
    public final void deposit(String user, String asset, long amount) throws Exception {
        JsonObject money = new JsonObject().put("asset", asset).put("amount", amount);
        json(
                post(
                        null,
                        "/v1/accounts/" + name(user) + "/deposits",
                        UUID.randomUUID().toString(),
                        money),
                201);
    }

    public final String send(String kind, long amount, int count) throws Exception {
        return send(packet(kind, amount, count));
    }

    public final String send(JsonObject packet) throws Exception {
        String key = UUID.randomUUID().toString();
        deposit("sender", "CNY", packet.getLong("amount"));
        return json(post("sender", "/v1/packets", key, packet), 201).getString("id");
    }

    public final JsonObject packet(String kind, long amount, int count) {
        return new JsonObject()
                .put("group", group)
                .put("kind", kind)
                .put("asset", "CNY")
                .put("amount", amount)
                .put("count", count);
    }

    public static JsonObject cny(long amount) {
        return new JsonObject().put("asset", "CNY").put("amount", amount);
    }

    public final JsonObject money(String user, String direction, long amount, String key, int status) throws Exception {
        return json(post(null, "/v1/accounts/" + name(user) + "/" + direction, key, cny(amount)), status);
    }

    public final long balance(String user) throws Exception {
        return items(get(user, "/v1/me/balances")).stream()
                .mapToLong(item -> item.getLong("amount"))
                .sum();
    }

    public final HttpResponse<String> claim(String user, String packet) throws Exception {
        return send(builder(user, "/v1/packets/" + packet + "/claims").POST(BodyPublishers.noBody()));
    }

    public final HttpResponse<String> claim(String user, String packet, String passcode) throws Exception {
        String body = new JsonObject().put("passcode", passcode).encode();
        return send(builder(user, "/v1/packets/" + packet + "/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));
    }

    /** Declares an asset without decimals, for those that a test has for itself. */
    public final void declare(String asset) throws Exception {
        JsonObject terms = new JsonObject().put("code", asset).put("scale", 0).put("symbol", "¤");
        json(post(null, "/v1/assets", UUID.randomUUID().toString(), terms), 201);
    }

    /** @param how {@code block}, {@code freeze} or their ends */
    public final void restrict(String user, String how) throws Exception {
        json(
                post(null, "/v1/users/" + name(user) + "/" + how, "unused", new JsonObject().put("reason", "a test")),
                200);
    }

    /** @param user null for the service */
    public final HttpResponse<String> post(String user, String path, String key, JsonObject body) throws Exception {
        return send(builder(user, path)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body.encode())));
    }

    public final HttpResponse<String> get(String user, String path) throws Exception {
        return send(builder(user, path).GET());
    }

    public final HttpRequest.Builder builder(String user, String path) {
        return builder(user, group, path);
    }

    public final HttpRequest.Builder builder(String user, String inGroup, String path) {
        String token = user == null ? token("shop", inGroup, Role.SERVICE) : token(user, inGroup, Role.USER);
        return HttpRequest.newBuilder(base().resolve(path)).header("Authorization", "Bearer " + token);
    }

    public static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return CLIENT.send(
                request.version(HttpClient.Version.HTTP_1_1)
                        .timeout(Duration.ofSeconds(15))
                        .build(),
                BodyHandlers.ofString());
    }

    public final String token(String user, String inGroup, Role role) {
        return new TokenSigner(secret(), null, null, Clock.systemUTC())
                .sign(new UserId(name(user)), List.of(new GroupId(inGroup)), role, Duration.ofMinutes(5));
    }

    public static List<JsonObject> items(HttpResponse<String> response) {
        return items(json(response, 200));
    }

    public static List<JsonObject> items(JsonObject page) {
        return page.getJsonArray("items").stream().map(JsonObject.class::cast).collect(Collectors.toList());
    }

    public static JsonObject json(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        return new JsonObject(response.body());
    }

    public static JsonObject assertProblem(HttpResponse<String> response, int status, String type) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        JsonObject problem = new JsonObject(response.body());
        assertThat(problem.getString("type")).endsWith("/" + type);
        return problem;
    }
}
