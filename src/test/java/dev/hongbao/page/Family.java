package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The other members of a group, who act over HTTP. */
final class Family {
    private static final Duration TOKEN_LIFE = Duration.ofHours(1);
    private static final int DROPS = 60;

    private final Map<String, String> tokens = new ConcurrentHashMap<>();
    private final HttpClient http;
    private final URI base;
    private final TokenSigner signer;
    private final String group;

    /** @param signer with the server's key */
    Family(HttpClient http, URI base, TokenSigner signer, String group) {
        this.http = http;
        this.base = base;
        this.signer = signer;
        this.group = group;
    }

    /** A session in the group, as the page keeps it. */
    JsonObject session(String user) throws Exception {
        JsonObject session = isOfTheDemo(user)
                ? login(user)
                : new JsonObject()
                        .put("user", user)
                        .put("expiresAt", Instant.now().plus(TOKEN_LIFE).toString());
        return session.put("group", group)
                .put("token", token(user))
                .put("members", DemoLogin.MEMBERS.stream().map(UserId::value).toList());
    }

    private static boolean isOfTheDemo(String user) {
        return DemoLogin.MEMBERS.contains(new UserId(user));
    }

    /** Lets somebody into the group, with 10 yuan, whom the host application named. */
    void admit(String user) throws Exception {
        tokens.put(user, sign(user, Role.USER));
        post(
                "/v1/accounts/" + URLEncoder.encode(user, StandardCharsets.UTF_8) + "/deposits",
                hostToken(),
                new JsonObject().put("asset", "CNY").put("amount", 1_000));
    }

    /** Blocks somebody, as the host does. */
    void block(String user) throws Exception {
        ask("/v1/users/" + user + "/block", hostToken(), new JsonObject().put("reason", "a test"), 200);
    }

    void unblock(String user) throws Exception {
        ask("/v1/users/" + user + "/unblock", hostToken(), new JsonObject().put("reason", "a test"), 200);
    }

    /** Says how somebody is shown. @param profile as the call takes it */
    void show(String user, JsonObject profile) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/v1/users/" + user + "/profile"))
                .header("Authorization", "Bearer " + hostToken())
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(profile.encode()))
                .build();
        assertThat(http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(200);
    }

    /** A token of the host application. */
    String hostToken() {
        return sign("backend", Role.SERVICE);
    }

    private String sign(String user, Role role) {
        return signer.sign(new UserId(user), List.of(new GroupId(group)), role, TOKEN_LIFE);
    }

    /** Sends a lucky packet; {@code more} overrides. @return its id */
    String send(String member, String greeting, JsonObject more) throws Exception {
        JsonObject packet = new JsonObject()
                .put("group", group)
                .put("kind", "lucky")
                .put("asset", "CNY")
                .put("amount", 888)
                .put("count", 2)
                .put("greeting", greeting)
                .mergeIn(more);
        return post("/v1/packets", token(member), packet).getString("id");
    }

    /** Makes a campaign whose pools have two shares, of which a user has one; a member opens one. @return the pool's id */
    String openPool(String member, String name, String product) throws Exception {
        String host = sign("shop", Role.SERVICE);
        post(
                "/v1/accounts/shop/deposits",
                host,
                new JsonObject().put("asset", "CNY").put("amount", 888));
        JsonObject campaign = post(
                "/v1/campaigns",
                host,
                new JsonObject()
                        .put("name", name)
                        .put("asset", "CNY")
                        .put("budget", 888)
                        .put("endsAt", Instant.now().plusSeconds(3600).toString())
                        .put(
                                "pool",
                                new JsonObject()
                                        .put("shares", 2)
                                        .put("amount", 444)
                                        .put("livesSeconds", 600))
                        .put("claiming", new JsonObject().put("total", 1)));
        return open(member, campaign.getString("id"), product);
    }

    /** Makes a rain over the group that soon begins, whose drops of 1.11 yuan follow soon on one another. @param more overrides @return its id */
    String makeRain(String name, JsonObject more) throws Exception {
        String host = sign("shop", Role.SERVICE);
        post(
                "/v1/accounts/shop/deposits",
                host,
                new JsonObject().put("asset", "CNY").put("amount", DROPS * 111));
        JsonObject rain = new JsonObject()
                .put("name", name)
                .put("asset", "CNY")
                .put("budget", DROPS * 111)
                .put("drops", DROPS)
                .put("startsAt", Instant.now().plusSeconds(2).toString())
                .put("groups", new JsonArray().add(group))
                .put("split", "equal")
                .put("sharesPerDrop", 1)
                .put("expectedUsers", 1)
                .mergeIn(more);
        return post("/v1/rains", host, rain).getString("id");
    }

    void cancelRain(String rain) throws Exception {
        ask("/v1/rains/" + rain + "/cancel", sign("shop", Role.SERVICE), null, 202);
    }

    /** Opens another pool of the campaign that paid for a packet. @return its id */
    String openAnother(String member, String pool, String product) throws Exception {
        return open(member, campaignOf(member, pool), product);
    }

    /** The id of the campaign that paid for a packet. */
    String campaignOf(String member, String pool) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/v1/packets/" + pool))
                .header("Authorization", "Bearer " + token(member))
                .build();
        JsonObject packet =
                new JsonObject(http.send(request, BodyHandlers.ofString()).body());
        return packet.getJsonObject("campaign").getString("id");
    }

    private String open(String member, String campaign, String product) throws Exception {
        JsonObject body = new JsonObject().put("product", product).put("group", group);
        return post("/v1/campaigns/" + campaign + "/pools", token(member), body).getString("id");
    }

    void claim(String member, String packet) throws Exception {
        post("/v1/packets/" + packet + "/claims", token(member), new JsonObject());
    }

    /** Plays the demo's wheel ten times. */
    void playTen(String member) throws Exception {
        String draw = login(member).getString("draw");
        post("/v1/draws/" + draw + "/plays", token(member), new JsonObject().put("plays", 10));
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
            if (isOfTheDemo(member)) {
                login(member); // gives the start money
            }
            tokens.put(member, sign(member, Role.USER));
        }
        return tokens.get(member);
    }

    private JsonObject post(String path, String token, JsonObject body) throws Exception {
        return ask(path, token, body, 201);
    }

    private JsonObject ask(String path, String token, JsonObject body, int status) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path))
                .header("Idempotency-Key", UUID.randomUUID().toString())
                .POST(body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode()));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        return new JsonObject(answer.body());
    }
}
