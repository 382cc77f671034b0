package dev.hongbao.fuzz;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/**
 * What is there before the first input, so that right ones have something to be about: made of the contract's own examples. Safe on any
 * thread.
 */
final class World {
    static final List<String> GROUPS = List.of("family", "friends", "demo");
    static final List<String> USERS = List.of("alice", "bob", "carol", "dave");

    /** Whom restrictions are tried on, so that the others can go on. */
    static final List<String> VICTIMS = List.of("mallory", "trudy");

    static final List<String> ASSETS = List.of("CNY", "POINTS", "COUPON-SHOES");
    static final String BACKEND = "backend";

    /** More would hide what is missing, fewer would be used up. */
    private static final int REMEMBERED = 32;

    private static final Duration DAY = Duration.ofDays(1);

    private final int port;
    private final TokenSigner signer;
    private final Map<String, String> tokens = new ConcurrentHashMap<>();

    /** Ids by the name of a path's parameter: {@code packet}, {@code draw} … */
    private final Map<String, List<String>> ids = new ConcurrentHashMap<>();

    World(int port, byte[] secret) {
        this.port = port;
        this.signer = new TokenSigner(secret, null, null, Clock.systemUTC());
    }

    int port() {
        return port;
    }

    /** A good token of a user, who is in all groups. */
    String token(String user) {
        return tokens.computeIfAbsent(user, name -> sign(name, Role.USER));
    }

    private String sign(String user, Role role) {
        return signer.sign(new UserId(user), GROUPS.stream().map(GroupId::new).toList(), role, DAY);
    }

    /** The host application's. */
    String service() {
        return tokens.computeIfAbsent("service", name -> sign(BACKEND, Role.SERVICE));
    }

    /** What is known by a name; empty for a name that is none of an id. */
    List<String> ids(String name) {
        return ids.getOrDefault(name, List.of());
    }

    /** Remembers what a call has made, instead of the oldest of its kind. */
    void learn(String name, JsonObject made) {
        if (made.getValue("id") instanceof String id) {
            remember(name, id);
        }
    }

    private void remember(String name, String id) {
        List<String> known = ids.computeIfAbsent(name, any -> new CopyOnWriteArrayList<>());
        known.add(id);
        if (known.size() > REMEMBERED) {
            known.remove(0);
        }
    }

    /** Makes all of it. */
    void make(ContractText contract) throws IOException {
        try (Line line = new Line(port)) {
            for (JsonObject asset : contract.examples("declareAsset")) {
                asset.remove("caps");
                asset.put("senders", "everybody");
                post(line, "/v1/assets", asset);
            }
            JsonArray deposits = new JsonArray();
            for (String user : List.of("alice", "bob", "carol", "dave", BACKEND)) {
                for (String asset : ASSETS) {
                    deposits.add(new JsonObject()
                            .put("user", user)
                            .put("asset", asset)
                            .put("amount", 1_000_000_000_000L));
                }
            }
            post(line, "/v1/deposits", new JsonObject().put("deposits", deposits));
            for (int i = 0; i < 3; i++) {
                makeOf(line, contract, "createDraw", "draw", "/v1/draws");
                makeOf(line, contract, "createCampaign", "campaign", "/v1/campaigns");
                makeOf(line, contract, "createRain", "rain", "/v1/rains");
                makeOf(line, contract, "createWebhook", "webhook", "/v1/webhooks");
                makeOf(line, contract, "sendPacketForUser", "packet", "/v1/users/alice/packets");
            }
            for (String packet : ids("packet")) {
                post(line, "/v1/packets/" + packet + "/claims", new JsonObject().put("passcode", "新年快乐"));
            }
            for (String draw : ids("draw")) {
                post(line, "/v1/draws/" + draw + "/plays", new JsonObject().put("plays", 1));
            }
            transfers(line).forEach(id -> remember("transfer", id));
        }
    }

    private void makeOf(Line line, ContractText contract, String operation, String name, String path)
            throws IOException {
        for (JsonObject example : contract.examples(operation)) {
            example.remove("url");
            example.remove("token");
            if (name.equals("webhook")) {
                example.put("url", "https://127.0.0.1:9/hook");
            }
            learn(name, post(line, path, example));
        }
    }

    private Stream<String> transfers(Line line) throws IOException {
        return get(line, "/v1/accounts/alice/transfers").getJsonArray("items", new JsonArray()).stream()
                .map(item -> ((JsonObject) item).getString("id"));
    }

    private JsonObject get(Line line, String path) throws IOException {
        return ask(line, Request.of("GET", path).with("Authorization", "Bearer " + service()));
    }

    private JsonObject post(Line line, String path, JsonObject body) throws IOException {
        return ask(
                line,
                Request.of("POST", path)
                        .with("Authorization", "Bearer " + service())
                        .with("Idempotency-Key", Long.toString(System.nanoTime()))
                        .with("Content-Type", "application/json")
                        .body(body.encode()));
    }

    private static JsonObject ask(Line line, Request request) throws IOException {
        line.send(request.bytes());
        Answer answer = line.read(false);
        if (answer == null || answer.status() >= 500) {
            throw new IOException("the world cannot be made: " + answer);
        }
        return answer.body().isEmpty() ? new JsonObject() : new JsonObject(answer.body());
    }
}
