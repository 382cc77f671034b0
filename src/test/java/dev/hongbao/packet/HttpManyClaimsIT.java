package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Claims that the host's backend makes for its users, one by one and by the thousand, on the whole server. */
@ExtendWith(Servers.class)
class HttpManyClaimsIT extends TestServerClient {
    private static final int MOST = 1_000;
    private static final int BODY_BYTES = 256 * 1024;

    /** The first thousand claims of a server may wait for its classes. */
    private static final Map<String, String> PATIENT = Map.of("claim.settle-timeout", "10s");

    private static Books books;

    @BeforeAll
    static void start(TestServers given) {
        serve(given, PATIENT);
        books = new Books(given);
    }

    @AfterAll
    static void theBooksAddUp() {
        books.assertClean();
    }

    /** Of a member of the group. */
    private JsonObject item(String user, String packet) {
        return new JsonObject().put("user", name(user)).put("packet", packet).put("groups", new JsonArray().add(group));
    }

    private HttpRequest.Builder request(List<?> items) {
        return builder(null, "/v1/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(
                        new JsonObject().put("claims", new JsonArray(items)).encode()));
    }

    private List<JsonObject> claimAll(List<?> items) throws Exception {
        List<JsonObject> outcomes = items(json(send(request(items)), 200));
        assertThat(outcomes).hasSameSizeAs(items);
        return outcomes;
    }

    private HttpResponse<String> claimFor(String user, JsonObject body) throws Exception {
        return post(null, "/v1/users/" + name(user) + "/claims", "unused", body);
    }

    /** The status, and of a refusal the end of its type and its reason. */
    private static String said(JsonObject outcome) {
        JsonObject problem = outcome.getJsonObject("problem");
        assertThat(outcome.containsKey("claim")).isEqualTo(problem == null);
        if (problem == null) {
            return Integer.toString(outcome.getInteger("status"));
        }
        assertThat(problem.getInteger("status")).isEqualTo(outcome.getInteger("status"));
        String type = problem.getString("type");
        String reason = problem.getString("reason");
        return outcome.getInteger("status") + " " + type.substring(type.lastIndexOf('/') + 1)
                + (reason == null ? "" : " " + reason);
    }

    /** Items with what is expected of each. */
    private final class Expected {
        private final List<Object> items = new ArrayList<>();
        private final List<String> outcomes = new ArrayList<>();

        void add(Object item, String outcome) {
            items.add(item);
            outcomes.add(outcome);
        }
    }

    @Test
    void aThousandItemsSucceedAndFailByThemselves() throws Exception {
        // Given a packet for many, with an earlier winner who is blocked since; a drained one; one with a passcode
        String packet = send("lucky", 100_000, 1_000);
        String drained = send("lucky", 100, 1);
        String secret = send(packet("lucky", 1_000, 5).put("passcode", "open sesame"));
        JsonObject early = json(claim("early", packet), 201);
        JsonObject outlaw = json(claim("outlaw", packet), 201);
        json(claim("other", drained), 201);
        restrict("outlaw", "block");
        restrict("blocked", "block");
        restrict("frozen", "freeze");
        json(post(null, "/v1/users/" + name("renewed") + "/revoke-tokens", "k", new JsonObject()), 200);

        // And what is to be expected of a thousand items
        Expected all = new Expected();
        for (int i = 0; i < 600; i++) {
            all.add(item("member" + i, packet), "201");
        }
        for (int i = 0; i < 100; i++) {
            all.add(item("member" + i, packet), "200");
        }
        all.add(item("early", packet), "200");
        all.add(item("outlaw", packet), "200");
        all.add(item("renewed", packet), "201");
        for (int i = 0; i < 50; i++) {
            all.add(item("late" + i, drained), "410 drained");
            all.add(
                    item("blocked", packet)
                            .put("user", name(i < 10 ? "blocked" : "guest" + i))
                            .put("groups", null),
                    i < 10 ? "403 blocked user" : "403 not-eligible group");
        }
        all.add(item("frozen", packet), "403 frozen");
        all.add(item("right", secret).put("passcode", "open sesame"), "201");
        for (int i = 0; i < 10; i++) {
            all.add(item("guesser" + i, secret).put("passcode", "please"), "403 wrong-passcode");
            all.add(item("guesser" + i, secret), "403 wrong-passcode");
            all.add(item("stray" + i, UUID.randomUUID().toString()), "404 not-found");
            all.add(item("broken", packet).put("packet", "x" + i), "400 invalid-request");
        }
        for (int i = 0; i < 5; i++) {
            all.add(item("insistent", secret).put("passcode", "p" + i), "403 wrong-passcode");
        }
        all.add(item("insistent", secret).put("passcode", "p5"), "429 too-many-requests passcodes");
        while (all.items.size() < MOST) {
            all.add(item("more" + all.items.size(), packet), "201");
        }

        // When
        List<JsonObject> outcomes = claimAll(all.items);

        // Then each is answered in its place, and a repeated claim with the first one
        assertThat(outcomes).extracting(HttpManyClaimsIT::said).containsExactlyElementsOf(all.outcomes);
        for (int i = 0; i < 100; i++) {
            assertThat(outcomes.get(600 + i).getJsonObject("claim"))
                    .isEqualTo(outcomes.get(i).getJsonObject("claim"));
        }
        assertThat(outcomes.get(700).getJsonObject("claim")).isEqualTo(early);
        assertThat(outcomes.get(701).getJsonObject("claim")).isEqualTo(outlaw);
        assertThat(outcomes.get(0).getJsonObject("claim").getString("user")).isEqualTo(name("member0"));
        assertThat(outcomes.get(0).getJsonObject("claim").getString("status")).isEqualTo("settled");
        assertThat(balance("member0"))
                .isEqualTo(outcomes.get(0).getJsonObject("claim").getLong("amount"));

        // And a repeated call gets the same claims
        List<JsonObject> again = claimAll(all.items.subList(0, 700));
        for (int i = 0; i < 700; i++) {
            assertThat(said(again.get(i))).isEqualTo("200");
            assertThat(again.get(i).getJsonObject("claim"))
                    .isEqualTo(outcomes.get(i).getJsonObject("claim"));
        }

        // And also when the packet is over
        json(send(builder(null, "/v1/packets/" + packet + "/close").POST(BodyPublishers.noBody())), 200);
        List<JsonObject> afterwards = claimAll(all.items.subList(0, 600));
        for (int i = 0; i < 600; i++) {
            assertThat(afterwards.get(i).getJsonObject("claim"))
                    .isEqualTo(outcomes.get(i).getJsonObject("claim"));
        }
    }

    /** n items of a user count n: of a burst of 40 claims each is allowed, and no more. */
    @Test
    void theLimitOfAUserHoldsWithinOneCall() throws Exception {
        String packet = send("lucky", 100, 2);

        List<String> said = claimAll(IntStream.range(0, 100)
                        .mapToObj(i -> item("hasty", packet))
                        .toList())
                .stream()
                .map(HttpManyClaimsIT::said)
                .toList();

        assertThat(said.get(0)).isEqualTo("201");
        assertThat(said.subList(1, 40)).containsOnly("200");
        assertThat(said.subList(45, 100)).contains("429 too-many-requests rate").doesNotContain("201");
        assertThat(said.subList(40, 100)).filteredOn("200"::equals).hasSizeLessThan(20);
        assertThat(said(claimAll(List.of(item("calm", packet))).get(0))).isEqualTo("201");
    }

    @Test
    void aBodyOfMoreThan256KiBIsRefusedAndOneOfSoMuchIsRead() throws Exception {
        String body =
                "{\"claims\":[" + item("bob", UUID.randomUUID().toString()).encode() + "]}";
        HttpRequest.Builder full = builder(null, "/v1/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body + " ".repeat(BODY_BYTES - body.length())));
        HttpRequest.Builder over = builder(null, "/v1/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body + " ".repeat(BODY_BYTES - body.length() + 1)));

        assertThat(said(items(json(send(full), 200)).get(0))).isEqualTo("404 not-found");
        assertProblem(send(over), 413, "payload-too-large");
    }

    @Test
    void oneClaimForAUserIsTheUsersOwnAndTheAuditLogHasTheCaller() throws Exception {
        // Given
        String packet = send(packet("lucky", 100, 1).put("passcode", "sesame"));
        JsonObject body = new JsonObject()
                .put("packet", packet)
                .put("passcode", "sesame")
                .put("groups", new JsonArray().add(group));

        // When
        assertThat(assertProblem(claimFor("bob", new JsonObject().put("packet", packet)), 403, "not-eligible")
                        .getString("reason"))
                .isEqualTo("group");
        assertProblem(claimFor("bob", body.copy().put("passcode", "simsalabim")), 403, "wrong-passcode");
        assertProblem(claimFor("bob", body.copy().put("user", "eve")), 400, "invalid-request");
        JsonObject claim = json(claimFor("bob", body), 201);

        // Then
        assertThat(json(claimFor("bob", body), 200)).isEqualTo(claim);
        assertThat(json(claim("bob", packet, "sesame"), 200)).isEqualTo(claim);
        assertProblem(claimFor("carl", body), 410, "drained");
        assertThat(balance("bob")).isEqualTo(100);
        List<JsonObject> rows = items(get(null, "/v1/audit?limit=200")).stream()
                .filter(row -> name("shop").equals(row.getString("actor"))
                        && "/v1/users/{user}/claims".equals(row.getString("route")))
                .toList();
        assertThat(rows)
                .anyMatch(row -> row.getInteger("status") == 201 && name("bob").equals(row.getString("subject")));
    }

    @Test
    void aCallThatPrefersNotToWaitIsAnsweredWhenItsClaimsAreAccepted() throws Exception {
        // Given
        String packet = send("lucky", 10_000, 100);
        json(claim("early", packet), 201);
        List<JsonObject> members = new ArrayList<>(List.of(item("early", packet), item("guest", packet)));
        members.get(1).remove("groups");
        for (int i = 0; i < 98; i++) {
            members.add(item("member" + i, packet));
        }

        // When
        HttpResponse<String> answer = send(request(members).header("Prefer", "respond-async"));

        // Then
        List<JsonObject> outcomes = items(json(answer, 202));
        assertThat(answer.headers().allValues("Preference-Applied")).containsExactly("respond-async");
        assertThat(said(outcomes.get(0))).isEqualTo("200");
        assertThat(said(outcomes.get(1))).isEqualTo("403 not-eligible group");
        assertThat(outcomes.subList(2, 100)).extracting(HttpManyClaimsIT::said).containsOnly("202");
        eventually(() -> claimAll(members.subList(2, 100)).stream()
                .allMatch(outcome -> said(outcome).equals("200")));
    }

    @Test
    void aClientThatLeavesFindsItsClaimsSettled() throws Exception {
        // Given
        String packet = send("lucky", 10_000, 500);
        List<JsonObject> members = IntStream.range(0, 500)
                .mapToObj(i -> item("member" + i, packet))
                .toList();
        String body = new JsonObject().put("claims", new JsonArray(members)).encode();

        // When
        try (Socket socket = new Socket(base().getHost(), base().getPort())) {
            String head =
                    "POST /v1/claims HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nAuthorization: Bearer "
                            + token("shop", group, Role.SERVICE) + "\r\nContent-Length: " + body.length() + "\r\n\r\n";
            socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            eventually(() -> claimed(packet) > 0);
        }

        // Then
        eventually(() -> claimed(packet) == members.size());
        assertThat(claimAll(members)).extracting(HttpManyClaimsIT::said).containsOnly("200");
    }

    private int claimed(String packet) throws Exception {
        return json(get(null, "/v1/packets/" + packet), 200)
                .getJsonObject("claimed")
                .getInteger("count");
    }
}
