package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.fairness.Evidence;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a client sees of the whole server with default limits, by a client that is not ours (the JDK's). Users and groups are new in every test,
 * so that tests do not meet.
 */
@ExtendWith(Servers.class)
class HttpApiIT extends TestServerClient {
    /** Each character there is, in ids of sixteen. */
    private static final List<String> PARTS = Pattern.compile(".{1,16}")
            .matcher(IntStream.rangeClosed('!', '~')
                    .mapToObj(each -> String.valueOf((char) each))
                    .filter(each -> UserId.isValid("x" + each))
                    .collect(Collectors.joining()))
            .results()
            .map(MatchResult::group)
            .toList();

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    @Test
    void moneyGoesInAndOutAndIsRecorded() throws Exception {
        // When the shop deposits and withdraws
        JsonObject in = money("alice", "deposits", 10_000, "in-1", 201);
        money("alice", "withdrawals", 4_000, "out-1", 201);

        // Then the balance and the records say so, newest first
        assertThat(in.getString("kind")).isEqualTo("deposit");
        assertThat(in.getString("direction")).isEqualTo("credit");
        assertThat(in.getValue("packet")).isNull();
        assertThat(balance("alice")).isEqualTo(6_000);
        assertThat(items(get("alice", "/v1/me/transfers")))
                .extracting(item -> item.getString("kind"))
                .containsExactly("withdrawal", "deposit");
        assertThat(items(get(null, "/v1/accounts/" + name("alice") + "/transfers")))
                .hasSize(2);
        assertThat(items(get(null, "/v1/accounts/" + name("alice") + "/balances")))
                .containsExactly(new JsonObject()
                        .put("asset", "CNY")
                        .put("amount", 6_000)
                        .put("amountText", "6000"));
    }

    @Test
    void aPacketIsToldAsItWasSent() throws Exception {
        money("alice", "deposits", 888, "in", 201);
        HttpResponse<String> response =
                post("alice", "/v1/packets", "send", packet("lucky", 888, 8).put("greeting", "恭喜\"发财\"🧧"));
        JsonObject sent = json(response, 201);

        assertThat(response.headers().firstValue("Location")).contains("/v1/packets/" + sent.getString("id"));
        Set<String> fields = new TreeSet<>(Contract.document()
                .getJsonObject("components")
                .getJsonObject("schemas")
                .getJsonObject("Packet")
                .getJsonObject("properties")
                .fieldNames());
        fields.removeAll(List.of("file", "profiles", "recipients"));
        assertThat(sent.fieldNames()).containsExactlyInAnyOrderElementsOf(fields);
        assertThat(sent.getString("greeting")).isEqualTo("恭喜\"发财\"🧧");
        assertThat(sent.getString("status")).isEqualTo("open");
        assertThat(sent.getJsonObject("claimed")).isEqualTo(new JsonObject().put("count", 0));
        assertThat(Duration.between(
                        Instant.parse(sent.getString("opensAt")), Instant.parse(sent.getString("expiresAt"))))
                .isEqualTo(Duration.ofDays(1));
        assertThat(json(get("bob", "/v1/packets/" + sent.getString("id")), 200)).isEqualTo(sent);
        assertThat(items(get("alice", "/v1/me/packets"))).containsExactly(sent);
    }

    @Test
    void aRaceGivesEachShareOnceAndTheSumIsExact() throws Exception {
        // Given a packet of three shares
        String id = send("lucky", 300, 3);

        // When three members claim, one of them twice, and a fourth comes late
        JsonObject bob = json(claim("bob", id), 201);
        JsonObject again = json(claim("bob", id), 200);
        JsonObject carol = json(claim("carol", id), 201);
        JsonObject dave = json(claim("dave", id), 201);

        // Then the second answer is the first, the late one is refused, also later, and winners keep their answer
        assertThat(again).isEqualTo(bob);
        assertThat(bob.fieldNames()).containsExactly("packet", "user", "slot", "amount", "asset", "status", "at");
        assertThat(bob.getString("status")).isEqualTo("settled");
        assertProblem(claim("erin", id), 410, "drained");
        assertProblem(claim("erin", id), 410, "drained");
        assertThat(json(claim("bob", id), 200)).isEqualTo(bob);
        List<JsonObject> claims = List.of(bob, carol, dave);
        assertThat(claims).extracting(claim -> claim.getInteger("slot")).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(claims.stream().mapToLong(claim -> claim.getLong("amount")).sum())
                .isEqualTo(300);
        assertThat(balance("bob")).isEqualTo(bob.getLong("amount"));

        // And the packet shows the luckiest to all
        JsonObject luckiest = claims.stream()
                .sorted(Comparator.comparing((JsonObject claim) -> claim.getInteger("slot")))
                .reduce((a, b) -> b.getLong("amount") > a.getLong("amount") ? b : a)
                .orElseThrow();
        assertThat(items(get("bob", "/v1/me/claims")))
                .containsExactly(bob.copy()
                        .putNull("campaign")
                        .put("sender", name("sender"))
                        .put("luckiest", luckiest.equals(bob)));
        JsonObject view = json(get("erin", "/v1/packets/" + id), 200);
        assertThat(view.getString("status")).isEqualTo("drained");
        assertThat(view.getJsonObject("claimed"))
                .isEqualTo(new JsonObject().put("count", 3).put("amount", 300));
        assertThat(view.getJsonObject("luckiest")).isEqualTo(luckiest);
        JsonObject list = json(get("erin", "/v1/packets/" + id + "/claims"), 200);
        assertThat(list.getJsonObject("luckiest")).isEqualTo(luckiest);
        assertThat(list.getJsonArray("items")).hasSize(3);
    }

    @Test
    void whatTheServerSaysOfAPacketThatIsOverProvesIt() throws Exception {
        // Given a packet that is drained, and one whose time ran out
        money("alice", "deposits", 2_000, "in", 201);
        JsonObject drained =
                json(post("alice", "/v1/packets", "2", packet("lucky", 1_000, 2).put("min", 300)), 201);
        JsonObject brief =
                json(post("alice", "/v1/packets", "3", packet("lucky", 1_000, 3).put("split", "even-luck")), 201);
        for (JsonObject each : List.of(drained, brief)) {
            json(claim("bob", each.getString("id")), 201);
            assertThat(json(get("bob", "/v1/packets/" + each.getString("id")), 200)
                            .getValue("seed"))
                    .isNull();
        }
        json(claim("carol", drained.getString("id")), 201);
        new Books(servers)
                .execute("update packet set opens_at = opens_at - interval '1 hour', expires_at = now() where id = '"
                        + brief.getString("id") + "'");
        eventually(() -> new JsonObject(
                        get("alice", "/v1/packets/" + brief.getString("id")).body())
                .getString("status")
                .equals("refunded"));

        for (JsonObject each : List.of(drained, brief)) {
            // When its answers are kept, one after the other
            String path = "/v1/packets/" + each.getString("id");
            String kept =
                    get("erin", path).body() + get("erin", path + "/claims").body();

            // Then they are what the seed gives, which is the one that was committed to
            Evidence.Proof evidence = Evidence.read(new ByteArrayInputStream(kept.getBytes(StandardCharsets.UTF_8)));
            assertThat(evidence.contradictions()).isEmpty();
            assertThat(evidence.commitment()).isEqualTo(each.getString("commitment"));
            assertThat(evidence.shown())
                    .contains("the seed gives the amounts of all " + (each == drained ? 2 : 1)
                            + " shares that were claimed");
            assertThat(each.getLong("min")).isEqualTo(each == drained ? 300 : 1);
        }
    }

    @Test
    void amountsOfOthersAreHiddenUntilOneHasClaimed() throws Exception {
        String id = send("lucky", 300, 3);
        json(claim("bob", id), 201);

        JsonObject before = json(get("carol", "/v1/packets/" + id), 200);
        JsonObject listed = json(get("carol", "/v1/packets/" + id + "/claims"), 200);
        assertProblem(get("carol", "/v1/packets/" + id + "/claims?cursor=4294967295"), 400, "invalid-request");
        assertThat(before.getJsonObject("claimed")).isEqualTo(new JsonObject().put("count", 1));
        assertThat(before.getValue("luckiest")).isNull();
        assertThat(listed.getJsonArray("items").getJsonObject(0).containsKey("amount"))
                .isFalse();
        assertThat(listed.getValue("luckiest")).isNull();

        json(claim("carol", id), 201);
        JsonObject after = json(get("carol", "/v1/packets/" + id), 200);
        assertThat(after.getJsonObject("claimed").getLong("amount")).isPositive();
        assertThat(after.getJsonObject("mine").getString("user")).isEqualTo(name("carol"));
    }

    @Test
    void whoAsksNotToWaitGetsTheShareAsAcceptedAndLaterAsSettled() throws Exception {
        String id = send("equal", 300, 3);

        HttpResponse<String> response = send(builder("bob", "/v1/packets/" + id + "/claims")
                .header("Prefer", "wait=1, respond-async")
                .POST(BodyPublishers.noBody()));
        JsonObject settled = json(claim("bob", id), 200);

        assertThat(response.statusCode()).isEqualTo(202);
        assertThat(response.headers().firstValue("Preference-Applied")).contains("respond-async");
        assertThat(response.headers().firstValue("Location")).contains("/v1/packets/" + id);
        JsonObject accepted = new JsonObject(response.body());
        assertThat(accepted.getString("status")).isEqualTo("accepted");
        assertThat(accepted.getInteger("slot")).isEqualTo(settled.getInteger("slot"));
        assertThat(accepted.getLong("amount")).isEqualTo(settled.getLong("amount"));
        assertThat(accepted.getValue("at")).isNull();
        assertThat(settled.getString("at")).matches(".*:[0-9]{2}(\\.[0-9]{3}([0-9]{3})?)?Z");
    }

    @Test
    void everyRefusalOfAClaimHasItsOwnType() throws Exception {
        String exclusive = send(packet("exclusive", 100, 1).put("recipients", new JsonArray().add(name("bob"))));
        String later = send(packet("lucky", 100, 1)
                .put("opensAt", Instant.now().plusSeconds(3600).toString()));
        String secret = send(packet("lucky", 100, 1).put("passcode", "新年快乐"));

        assertProblem(claim("carol", exclusive), 403, "not-eligible");
        json(claim("bob", exclusive), 201);
        assertProblem(claim("bob", later), 409, "not-open-yet");
        assertProblem(claim("bob", secret), 403, "wrong-passcode");
        assertProblem(claim("bob", secret, "恭喜发财"), 403, "wrong-passcode");
        json(claim("bob", secret, " 新年快乐 "), 201);
        assertProblem(claim("bob", UUID.randomUUID().toString()), 404, "not-found");
        assertProblem(get("bob", "/v1/packets/" + UUID.randomUUID()), 404, "not-found");
        HttpResponse<String> outsider = send(builder("mallory", "elsewhere", "/v1/packets/" + later + "/claims")
                .POST(BodyPublishers.noBody()));
        assertProblem(outsider, 403, "not-eligible");
    }

    @Test
    void whoSendsTooManySharesWaitsAndNobodyElse() throws Exception {
        JsonObject large = packet("lucky", 10_000, 10_000);

        assertProblem(post("greedy", "/v1/packets", "1", large), 402, "insufficient-funds");
        HttpResponse<String> tooMany = post("greedy", "/v1/packets", "2", large);

        assertProblem(tooMany, 429, "too-many-requests");
        assertThat(Integer.parseInt(tooMany.headers().firstValue("Retry-After").orElseThrow()))
                .isBetween(1, 10);
        assertProblem(post("other", "/v1/packets", "1", large), 402, "insufficient-funds");
        assertProblem(post("other", "/v1/packets", "2", packet("lucky", 10_001, 10_001)), 422, "infeasible");
    }

    @Test
    void aPacketThatDidNotChangeIsNotSentAgain() throws Exception {
        String id = send("lucky", 300, 3);
        HttpResponse<String> first = get("bob", "/v1/packets/" + id);
        String tag = first.headers().firstValue("ETag").orElseThrow();
        HttpRequest.Builder conditional = builder("bob", "/v1/packets/" + id)
                .header("If-None-Match", "\"x\", " + tag)
                .GET();

        HttpResponse<String> same = send(conditional);
        json(claim("bob", id), 201);
        HttpResponse<String> changed = send(conditional);

        assertThat(first.headers().firstValue("Cache-Control")).contains("private, no-cache");
        assertThat(same.statusCode()).isEqualTo(304);
        assertThat(same.body()).isEmpty();
        assertThat(changed.statusCode()).isEqualTo(200);
        assertThat(changed.headers().firstValue("ETag").orElseThrow()).isNotEqualTo(tag);
    }

    // --- what generated clients write for what nobody set ---

    @ParameterizedTest
    @ValueSource(strings = {"null", " null\n", "{}", "{\"passcode\":null}"})
    void aClaimWithoutAPasscodeMaySaySo(String body) throws Exception {
        String packet = send("lucky", 100, 2);

        HttpResponse<String> claimed = send(builder("bob", "/v1/packets/" + packet + "/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));

        assertThat(json(claimed, 201).getInteger("slot")).isZero();
    }

    @Test
    void aSendMayNameEveryFieldThatItLeavesOut() throws Exception {
        // Given a send, and the same with all that it does not say
        JsonObject brief = packet("lucky", 100, 2);
        JsonObject full = brief.copy().put("recipients", new JsonArray());
        for (String field :
                new String[] {"min", "max", "split", "greeting", "passcode", "opensAt", "expiresInSeconds"}) {
            full.putNull(field);
        }
        money("sender", "deposits", 100, "in", 201);

        // When both are sent under one key, then it is one send
        JsonObject first = json(post("sender", "/v1/packets", "one", full), 201);
        assertThat(json(post("sender", "/v1/packets", "one", brief), 201)).isEqualTo(first);

        // And an exclusive packet for nobody is still refused
        assertProblem(post("sender", "/v1/packets", "two", full.put("kind", "exclusive")), 422, "infeasible");
    }

    @Test
    void aDrawWhoseListsAreEmptyIsForEverybody() throws Exception {
        JsonObject definition = new JsonObject("""
            {"name": "d", "closesAt": "2035-01-01T00:00:00Z", "mode": "table", "group": null, "allow": [], "deny": [],
             "guarantees": [], "limits": {"total": null, "perDay": null, "zone": null}, "cost": null, "schedule": null,
             "prizes": [{"name": "cash", "count": 1, "stock": 1, "category": null,
                         "award": {"asset": "CNY", "amount": 7, "codes": []}}]}
            """);
        money("shop", "deposits", 7, "in", 201);

        String draw = json(post(null, "/v1/draws", "make", definition), 201).getString("id");
        HttpResponse<String> played =
                post("bob", "/v1/draws/" + draw + "/plays", "go", new JsonObject().putNull("plays"));

        assertThat(items(json(played, 201)).get(0).getLong("amount")).isEqualTo(7);
    }

    // --- ids with every character there is ---

    /** Also with a backslash, a percent sign and a slash in it. */
    private static String id(String part) {
        return "@" + part + "\\%2F/;?";
    }

    private String path(String id) {
        return URLEncoder.encode(name(id), StandardCharsets.UTF_8);
    }

    @Test
    void aUserAndAGroupOfEveryCharacterAreNamedInUrlsAndAnswers() throws Exception {
        for (String part : PARTS) {
            // Given a user with money, a name, and a group
            String user = id(part);
            String inGroup = name(user);
            String key = UUID.randomUUID().toString();
            json(post(null, "/v1/accounts/" + path(user) + "/deposits", key, cny(10)), 201);
            json(
                    send(builder(null, "/v1/users/" + path(user) + "/profile")
                            .header("Content-Type", "application/json")
                            .PUT(BodyPublishers.ofString("{\"displayName\":\"M\"}"))),
                    200);

            // When the user sends into the group, for another one with such a name
            JsonObject packet =
                    packet("exclusive", 10, 1).put("group", inGroup).put("recipients", List.of(name("." + user)));
            HttpResponse<String> sent = send(builder(user, inGroup, "/v1/packets")
                    .header("Idempotency-Key", key)
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString(packet.encode())));
            String id = json(sent, 201).getString("id");
            HttpResponse<String> claimed = send(builder("." + user, inGroup, "/v1/packets/" + id + "/claims")
                    .POST(BodyPublishers.noBody()));

            // Then all that names them names them right
            assertThat(json(claimed, 201).getString("user")).isEqualTo(name("." + user));
            JsonObject packets = json(send(builder(user, inGroup, "/v1/groups/" + path(user) + "/events")), 200)
                    .getJsonObject("reset")
                    .getJsonArray("packets")
                    .getJsonObject(0);
            assertThat(packets.getString("group")).isEqualTo(inGroup);
            assertThat(packets.getJsonObject("profiles").fieldNames()).containsExactly(name(user));
            assertThat(items(get(null, "/v1/accounts/" + path("." + user) + "/balances"))
                            .get(0)
                            .getLong("amount"))
                    .isEqualTo(10);
            assertThat(items(get(null, "/v1/packets?group=" + path(user) + "&sender=" + path(user))))
                    .hasSize(1);
            json(get(null, "/v1/packets/" + id), 200);
        }
    }
}
