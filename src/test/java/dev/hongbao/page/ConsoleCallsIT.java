package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console's calls to the management port, and their permissions. */
@ExtendWith(Servers.class)
class ConsoleCallsIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("shards", "2"));
    }

    private JsonObject ask(String path) throws Exception {
        return json(get(null, managed(path)), 200);
    }

    private HttpResponse<String> order(String path, JsonObject body) throws Exception {
        return post(null, managed(path), UUID.randomUUID().toString(), body);
    }

    private HttpResponse<String> order(String path) throws Exception {
        return send(builder(null, managed(path)).POST(BodyPublishers.noBody()));
    }

    private JsonObject reconcile() throws Exception {
        json(order("/manage/reconciliation"), 202);
        eventually(() -> ask("/manage/reconciliation").getString("endedAt") != null);
        JsonObject run = ask("/manage/reconciliation");
        assertThat(run.getBoolean("failed")).isFalse();
        assertThat(run.getInteger("done"))
                .isEqualTo(run.getInteger("of"))
                .isEqualTo(run.getJsonArray("findings").size());
        return run;
    }

    private static List<JsonObject> broken(JsonObject run) {
        return run.getJsonArray("findings").stream()
                .map(JsonObject.class::cast)
                .filter(finding -> !finding.getString("result").equals("ok"))
                .toList();
    }

    private static JsonObject wheel() {
        return new JsonObject()
                .put("name", "wheel")
                .put("closesAt", "2090-01-01T00:00:00Z")
                .put("mode", "table")
                .put("whenExhausted", "repeat")
                .put(
                        "prizes",
                        new JsonArray()
                                .add(new JsonObject().put("name", "one").put("count", 1))
                                .add(new JsonObject().put("name", "nine").put("count", 9)));
    }

    @Test
    void aServiceTokenIsToldWhoItIsAndWhatThereIsToCall() throws Exception {
        JsonObject session = ask("/manage/session");

        assertThat(session.getString("user")).isEqualTo(name("shop"));
        assertThat(Instant.parse(session.getString("expiresAt"))).isAfter(Instant.EPOCH);
        Map<String, JsonObject> calls = new HashMap<>();
        session.getJsonArray("calls").forEach(each -> {
            JsonObject call = (JsonObject) each;
            calls.put(call.getString("method") + " " + call.getString("path"), call);
        });
        assertThat(calls).containsKeys("GET /v1/campaigns", "POST /v1/accounts/{user}/deposits", "GET /manage/shards");
        assertThat(calls.get("GET /v1/campaigns").getJsonObject("query").fieldNames())
                .contains("cursor", "limit");
        assertThat(calls.get("POST /v1/accounts/{user}/deposits")
                        .getJsonObject("body")
                        .getJsonObject("properties")
                        .fieldNames())
                .contains("asset", "amount");
    }

    @Test
    void usersAreListedByIdPageByPage() throws Exception {
        // Given
        for (String user : List.of("list-a", "list-b", "list-c")) {
            json(order("/v1/accounts/" + name(user) + "/deposits", cny(100)), 201);
        }

        // When
        JsonObject first = ask("/manage/users?limit=2&after=list");
        JsonObject next = ask("/manage/users?limit=2&after=" + first.getString("next"));

        // Then
        assertThat(first.getJsonArray("items").stream().map(each -> ((JsonObject) each).getString("user")))
                .containsExactly(name("list-a"), name("list-b"));
        assertThat(next.getJsonArray("items").getJsonObject(0).getString("user"))
                .isEqualTo(name("list-c"));
        // and no page is empty, also after a full one
        for (String after = "list"; after != null; ) {
            JsonObject page = ask("/manage/users?limit=1&after=" + after);
            assertThat(page.getJsonArray("items")).hasSize(1);
            after = page.getString("next");
        }
        assertProblem(get(null, managed("/manage/users?after=%00")), 400, "invalid-request");
    }

    @Test
    void whatMovedIsThereToBeAsked() throws Exception {
        assertThat(ask("/manage/turnover").getJsonArray("items")).isNotNull();
    }

    @Test
    void theCallsOfTheApiAreTheSameHere() throws Exception {
        JsonObject deposit = cny(100);

        json(order("/v1/accounts/" + name("dora") + "/deposits", deposit), 201);

        assertThat(ask("/v1/accounts/" + name("dora") + "/balances"))
                .isEqualTo(json(get(null, "/v1/accounts/" + name("dora") + "/balances"), 200));
        assertProblem(
                order(
                        "/v1/accounts/" + name("dora") + "/deposits",
                        deposit.copy().put("amount", -1)),
                400,
                "invalid-request");
    }

    @Test
    void aServerOnConfiguredStoresHasNoDemoAndSaysSo() throws Exception {
        HttpResponse<String> login = send(HttpRequest.newBuilder(base().resolve("/v1/demo/login"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"member\":\"demo-mei\"}")));
        JsonObject about = json(send(HttpRequest.newBuilder(base().resolve("/v1/demo"))), 200);

        assertThat(assertProblem(login, 404, "demo-off").getString("detail")).contains("configured servers");
        assertThat(about.getBoolean("open")).isFalse();
        assertThat(about.getString("reason")).contains("configured servers");
    }

    @Test
    void nothingIsRevealedOrDoneWithoutATokenOfRoleService() throws Exception {
        TokenSigner yesterday =
                new TokenSigner(secret(), null, null, Clock.fixed(Instant.now().minusSeconds(86_400), ZoneOffset.UTC));
        String expired = yesterday.sign(new UserId("shop"), List.of(), Role.SERVICE, Duration.ofMinutes(5));
        for (String path : List.of("/manage/session", "/v1/demo", "/v1/campaigns")) {
            URI uri = URI.create(managed(path));
            assertProblem(get("alice", managed(path)), 403, "forbidden");
            assertProblem(send(HttpRequest.newBuilder(uri)), 401, "unauthenticated");
            HttpResponse<String> late = send(HttpRequest.newBuilder(uri).header("Authorization", "Bearer " + expired));
            assertProblem(late, 401, "unauthenticated");
            assertThat(late.body()).contains("Get a new token");
        }
        assertProblem(
                send(builder("alice", managed("/manage/reconciliation")).POST(BodyPublishers.noBody())),
                403,
                "forbidden");
        assertThat(ask("/manage/reconciliation").getJsonArray("findings")).isNotNull();
    }

    @Test
    void whatIsTheConsolesIsNotOnTheApisPort() throws Exception {
        assertProblem(get(null, "/manage/session"), 404, "no-such-path");
        assertProblem(get(null, "/console"), 404, "no-such-path");
        assertProblem(get(null, managed("/v1/socket")), 404, "no-such-path");
        assertProblem(get(null, managed("/manage/nothing")), 404, "no-such-path");
    }

    @Test
    void theServersAndWhoOwnsEachShardAreListed() throws Exception {
        eventually(() -> items(get(null, managed("/manage/shards"))).stream()
                .allMatch(shard -> shard.getString("session") != null));

        List<JsonObject> alive = items(get(null, managed("/manage/servers")));
        List<JsonObject> shards = items(get(null, managed("/manage/shards")));

        assertThat(alive).hasSize(1);
        String name = ManagementFactory.getRuntimeMXBean().getName(); // its process and host
        assertThat(alive.get(0).getString("server")).isEqualTo(name);
        assertThat(shards)
                .allSatisfy(shard -> assertThat(shard.getString("server")).isEqualTo(name));
        assertThat(alive.get(0).getLong("shards")).isEqualTo(2);
        assertThat(alive.get(0).getString("since")).endsWith("Z");
        assertThat(shards).extracting(shard -> shard.getInteger("shard")).containsExactly(0, 1);
        assertThat(shards)
                .allSatisfy(shard -> assertThat(shard.getString("session"))
                        .isEqualTo(alive.get(0).getString("session")));
    }

    @Test
    void whatIsSetAsideIsListedFoundByTheChecksAndBroughtBack() throws Exception {
        // Given a packet of whose claims Postgres refuses one
        Books books = new Books(servers);
        String packet = send("lucky", 1_000, 5);
        json(claim("bob", packet), 201);
        try (RefusingServer rule =
                RefusingServer.rows(books, "transfer", "new.subject = '" + packet + "' and new.slot > 0", "23514")) {
            eventually(() -> claim("carol", packet).body().contains("set-aside"));

            // When it is looked at, and brought back too early
            List<JsonObject> listed = items(get(null, managed("/manage/quarantine")));
            HttpResponse<String> early = order("/manage/quarantine/" + packet + "/replay");

            // Then
            assertThat(listed).hasSize(1);
            assertThat(listed.get(0).getString("id")).isEqualTo(packet);
            assertThat(listed.get(0).getString("sqlState")).isEqualTo("23514");
            assertThat(listed.get(0).getString("held")).endsWith(" CNY");
            assertProblem(early, 503, "set-aside");
            assertThat(early.body()).contains("Nothing is changed").contains("the test refuses it");
            assertThat(broken(reconcile()))
                    .extracting(finding -> finding.getString("result"))
                    .containsOnly("quarantined");
        }

        // When the cause is mended
        JsonObject back = json(order("/manage/quarantine/" + packet + "/replay"), 200);

        // Then
        assertThat(back.getInteger("entries")).isEqualTo(1);
        assertThat(items(get(null, managed("/manage/quarantine")))).isEmpty();
        assertProblem(order("/manage/quarantine/" + packet + "/replay"), 404, "not-found");
        assertProblem(order("/manage/quarantine/" + packet + "/void"), 404, "not-found");
        assertProblem(order("/manage/quarantine/nothing/void"), 400, "invalid-request");
        eventually(() -> claim("carol", packet).statusCode() == 200);
        books.assertClean();
    }

    @Test
    void whatCouldNotBeBroughtBackWholeIsToldToNobody() throws Exception {
        // Given a packet of which a claim and its close are kept, and Postgres takes the claim only
        Books books = new Books(servers);
        String packet = send("lucky", 1_000, 5);
        json(claim("bob", packet), 201);
        RefusingServer rule =
                RefusingServer.rows(books, "transfer", "new.subject = '" + packet + "' and new.slot > 0", "23514");
        eventually(() -> claim("carol", packet).body().contains("set-aside"));
        rule.close();
        books.execute("insert into quarantine (unit, verb, item, at) values ('" + packet + "', 'close', '" + packet
                + " closed shop', now())");

        // When it is brought back in vain, dropped, and claimed in another order
        try (RefusingServer closes = RefusingServer.rows(
                books, "packet", "new.id = '" + packet + "' and new.closed_at is not null", "23514")) {
            assertProblem(order("/manage/quarantine/" + packet + "/replay"), 503, "set-aside");
        }
        eventually(() -> order("/manage/quarantine/" + packet + "/void").statusCode() == 200);
        eventually(() -> claim("dave", packet).statusCode() < 300);
        JsonObject carols = json(claim("carol", packet), 201);

        // Then who claims is told what is in the books
        assertThat(carols.getInteger("slot")).isEqualTo((int) books.longOf("select slot from claim where packet = '"
                + packet + "' and user_id = '" + carols.getString("user") + "'"));
        books.assertClean();
    }

    @Test
    void aDrawIsTriedAndNotMade() throws Exception {
        JsonObject outcome = json(
                order(
                        "/manage/simulations",
                        new JsonObject().put("definition", wheel()).put("plays", 10_000)),
                200);

        assertThat(outcome.getLong("plays")).isEqualTo(10_000);
        assertThat(outcome.getString("verdict")).isEqualTo("kept");
        assertThat(outcome.getJsonArray("prizes").getJsonObject(0).getString("promised"))
                .isEqualTo("1000.0");
    }

    @Test
    void whatCanNotBeTriedIsToldAsWhatCanNotBeMade() throws Exception {
        JsonObject faulty = wheel().put("mode", "weights").put("surprise", 1);
        HttpResponse<String> refused = order("/manage/simulations", new JsonObject().put("definition", faulty));
        assertProblem(refused, 400, "invalid-request");
        assertThat(new JsonObject(refused.body()).getJsonArray("errors")).isNotEmpty();

        JsonObject over = wheel().put("closesAt", "2020-01-01T00:00:00Z");
        assertProblem(order("/manage/simulations", new JsonObject().put("definition", over)), 400, "invalid-request");
        assertProblem(
                order(
                        "/manage/simulations",
                        new JsonObject().put("definition", wheel()).put("plays", 200_001)),
                400,
                "invalid-request");

        JsonObject huge = wheel().put("mode", "schedule")
                .put("opensAt", "2089-12-01T00:00:00Z")
                .put("schedule", new JsonObject().put("periodSeconds", 3600))
                .put("fallback", new JsonObject().put("name", "nothing"))
                .put(
                        "prizes",
                        new JsonArray()
                                .add(new JsonObject()
                                        .put("name", "one")
                                        .put("quota", 5_000)
                                        .put("stock", 100_000_000)));
        huge.remove("whenExhausted");
        HttpResponse<String> tooMuch = order("/manage/simulations", new JsonObject().put("definition", huge));
        assertProblem(tooMuch, 422, "infeasible");
    }
}
