package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The other members of the demo family, who act over HTTP. */
final class Family {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<String, String> tokens = new ConcurrentHashMap<>();
    private final URI base;

    Family(URI base) {
        this.base = base;
    }

    /** Sends a lucky packet; {@code more} overrides. @return its id */
    String send(String member, String greeting, JsonObject more) throws Exception {
        JsonObject packet = new JsonObject()
                .put("group", "demo")
                .put("kind", "lucky")
                .put("asset", "CNY")
                .put("amount", 888)
                .put("count", 2)
                .put("greeting", greeting)
                .mergeIn(more);
        return post("/v1/packets", token(member), packet).getString("id");
    }

    void claim(String member, String packet) throws Exception {
        post("/v1/packets/" + packet + "/claims", token(member), new JsonObject());
    }

    /** Who one is, as {@code POST /v1/demo/login} answers. */
    JsonObject login(String member) throws Exception {
        return post("/v1/demo/login", null, new JsonObject().put("member", member));
    }

    long balance(String member) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/v1/me/balances"))
                .header("Authorization", "Bearer " + token(member))
                .build();
        String body = http.send(request, BodyHandlers.ofString()).body();
        return new JsonObject(body).getJsonArray("items").getJsonObject(0).getLong("amount");
    }

    private String token(String member) throws Exception {
        if (!tokens.containsKey(member)) {
            tokens.put(member, login(member).getString("token"));
        }
        return tokens.get(member);
    }

    private JsonObject post(String path, String token, JsonObject body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path))
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", UUID.randomUUID().toString())
                .POST(BodyPublishers.ofString(body.encode()));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return new JsonObject(answer.body());
    }
}
