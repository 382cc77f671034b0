package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What users are called and how they look, on the whole server. */
@ExtendWith(Servers.class)
class HttpProfileIT extends TestServerClient {
    private static final String PICTURE = "https://img.example.com/a.png";

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private String path(String user) {
        return "/v1/users/" + name(user) + "/profile";
    }

    private HttpResponse<String> put(String user, String json) throws Exception {
        return send(builder(null, path(user))
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(json)));
    }

    private static String called(String displayName) {
        return new JsonObject().put("displayName", displayName).encode();
    }

    /** A user's display name in an answer; null for none. */
    private String shown(JsonObject answer, String user) {
        JsonObject profiles = answer.getJsonObject("profiles", new JsonObject());
        return profiles.containsKey(name(user))
                ? profiles.getJsonObject(name(user)).getString("displayName")
                : null;
    }

    /** Calls with a new token that names its user. */
    private void seenWith(String user, Profile shown) throws Exception {
        Duration ttl = Duration.ofSeconds(100 + Math.abs(UUID.randomUUID().hashCode() % 1_000_000));
        String token = new TokenSigner(secret(), null, null, Clock.systemUTC())
                .sign(new UserId(name(user)), List.of(new GroupId(group)), Role.USER, ttl, shown);
        json(send(builder(user, "/v1/me/balances").setHeader("Authorization", "Bearer " + token)), 200);
    }

    private JsonObject view(String packet) throws Exception {
        return json(get("bob", "/v1/packets/" + packet), 200);
    }

    @Test
    void namesAreShownInViewsListsAndTheFeed() throws Exception {
        // Given a sender and one of two claimers with a profile
        String before = json(get("bob", "/v1/groups/" + group + "/events"), 200).getString("next");
        json(put("sender", "{\"displayName\": \"小明 👨‍👩‍👧\", \"avatar\": \"" + PICTURE + "\"}"), 200);
        json(put("bob", called("Bob <b>")), 200);

        // When
        String packet = send("equal", 200, 2);
        String claimed = claim("bob", packet).body();
        claim("carol", packet);

        // Then the view, the lists and every event name them
        JsonObject view = view(packet);
        assertThat(view.getJsonObject("profiles").getJsonObject(name("sender")))
                .isEqualTo(new JsonObject().put("displayName", "小明 👨‍👩‍👧").put("avatar", PICTURE));
        JsonObject claims = json(get("carol", "/v1/packets/" + packet + "/claims"), 200);
        assertThat(shown(claims, "bob")).isEqualTo("Bob <b>");
        assertThat(claims.getJsonObject("profiles").fieldNames()).containsExactly(name("bob"));
        assertThat(shown(items(get("sender", "/v1/me/packets")).get(0), "sender"))
                .startsWith("小明");
        eventually(() -> events(before).stream()
                .anyMatch(event -> event.getString("type").equals("packet.drained")));
        for (JsonObject event : events(before)) {
            JsonObject data = event.getJsonObject("data");
            switch (event.getString("type")) {
                case "packet.sent" ->
                    assertThat(shown(data.getJsonObject("packet"), "sender")).startsWith("小明");
                case "packet.drained" ->
                    assertThat(shown(
                                    data,
                                    data.getJsonObject("luckiest")
                                                    .getString("user")
                                                    .equals(name("bob"))
                                            ? "bob"
                                            : "sender"))
                            .isEqualTo(
                                    data.getJsonObject("luckiest")
                                                    .getString("user")
                                                    .equals(name("bob"))
                                            ? "Bob <b>"
                                            : null);
                default -> assertThat(data.containsKey("profiles")).isFalse();
            }
        }
        JsonObject state = json(get("carol", "/v1/groups/" + group + "/events"), 200);
        assertThat(shown(state.getJsonObject("reset").getJsonArray("packets").getJsonObject(0), "sender"))
                .startsWith("小明");
        // but not the answer to a claim, which everybody wants at once
        assertThat(claimed).doesNotContain("profiles");
    }

    private List<JsonObject> events(String after) throws Exception {
        return items(get("bob", "/v1/groups/" + group + "/events?after=" + after));
    }

    @Test
    void winnersOfADrawAreNamed() throws Exception {
        // Given
        json(put("ann", called("安")), 200);
        JsonObject definition = new JsonObject("""
            {"name": "wheel", "closesAt": "2035-01-01T00:00:00Z", "mode": "table", "prizes": [{"name": "a", "category": "goods", "count": 2}]}
            """).put("group", group);
        String draw = json(post(null, "/v1/draws", UUID.randomUUID().toString(), definition), 201)
                .getString("id");
        String before = json(get("bob", "/v1/groups/" + group + "/events"), 200).getString("next");

        // When
        json(post("ann", "/v1/draws/" + draw + "/plays", "k", new JsonObject()), 201);

        // Then
        assertThat(shown(json(get(null, "/v1/draws/" + draw + "/wins"), 200), "ann"))
                .isEqualTo("安");
        eventually(() -> events(before).stream()
                .anyMatch(event -> event.getString("type").equals("draw.won")));
        assertThat(events(before))
                .filteredOn(event -> event.getString("type").equals("draw.won"))
                .allSatisfy(event ->
                        assertThat(shown(event.getJsonObject("data"), "ann")).isEqualTo("安"));
    }

    @Test
    void aProfileCanBeErased() throws Exception {
        // Given
        String packet = send("lucky", 100, 1);
        json(put("sender", called("Real Name")), 200);
        assertThat(shown(view(packet), "sender")).isEqualTo("Real Name");

        // When its fields are set to nothing
        JsonObject erased = json(put("sender", "{\"displayName\": null, \"avatar\": null}"), 200);

        // Then the id is shown, whatever the user's token says
        assertThat(erased.getString("displayName")).isNull();
        assertThat(erased.getString("givenBy")).isEqualTo("service");
        assertThat(view(packet).containsKey("profiles")).isFalse();
        seenWith("sender", new Profile("From Token", null));
        seenWith("carol", new Profile("Carol", null));
        eventually(() -> "token".equals(json(get(null, path("carol")), 200).getString("givenBy")));
        assertThat(view(packet).containsKey("profiles")).isFalse();

        // When it is forgotten
        for (int i = 0; i < 2; i++) {
            assertThat(send(builder(null, path("sender")).DELETE()).statusCode())
                    .isEqualTo(204);
        }

        // Then nothing is left, and the next token is believed
        assertThat(json(get(null, path("sender")), 200).getString("givenBy")).isNull();
        seenWith("sender", new Profile("From Token", null));
        eventually(() -> "From Token".equals(shown(view(packet), "sender")));
    }

    @Test
    void aTokenNamesItsUserUntilTheServiceDoes() throws Exception {
        // Given a packet that was looked at while nobody knew the sender
        String packet = send("lucky", 100, 1);
        assertThat(view(packet).containsKey("profiles")).isFalse();

        // When tokens name the sender, and name it anew
        seenWith("sender", new Profile("First", new PictureUrl(PICTURE)));
        eventually(() -> "First".equals(shown(view(packet), "sender")));
        seenWith("sender", new Profile("Second", null));
        eventually(() -> "Second".equals(shown(view(packet), "sender")));
        json(put("sender", called("Service")), 200);
        seenWith("sender", new Profile("Third", null));
        seenWith("dave", new Profile("Dave", null));
        eventually(() -> "token".equals(json(get(null, path("dave")), 200).getString("givenBy")));

        // Then what the service says counts, at once and for good
        assertThat(shown(view(packet), "sender")).isEqualTo("Service");
        JsonObject stored = json(get(null, path("sender")), 200);
        assertThat(stored)
                .isEqualTo(new JsonObject()
                        .put("user", name("sender"))
                        .put("displayName", "Service")
                        .putNull("avatar")
                        .put("givenBy", "service"));
    }

    /** {@code SchemaTest} has what the contract refuses. */
    @Test
    void whatMayNotBeShownIsRefused() throws Exception {
        for (String name : List.of(" x", "a\nb", "\u202Egnp.exe", "a\u200Bb")) {
            assertThat(put("eve", called(name)).statusCode()).as(name).isEqualTo(400);
        }
        assertThat(json(get(null, path("eve")), 200).getString("displayName")).isNull();
    }
}
