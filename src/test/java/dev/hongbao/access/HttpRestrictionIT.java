package dev.hongbao.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Freezing, blocking and reading the books, as a backend does it on the whole server. */
@ExtendWith(Servers.class)
class HttpRestrictionIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private HttpResponse<String> order(String user, String path) throws Exception {
        return post(user, path, UUID.randomUUID().toString(), new JsonObject().put("reason", "a \"case\", 7"));
    }

    @Test
    void aUserIsFrozenWithAReasonAndThawed() throws Exception {
        String eve = "/v1/users/" + name("eve");
        money("eve", "deposits", 100, UUID.randomUUID().toString(), 201);
        String packet = send("lucky", 10, 2);

        JsonObject frozen = json(order(null, eve + "/freeze"), 200);
        assertThat(frozen.getJsonObject("frozen").getString("reason")).isEqualTo("a \"case\", 7");
        assertThat(frozen.getJsonObject("frozen").getString("by")).isEqualTo(name("shop"));
        assertThat(frozen.getValue("blocked")).isNull();
        assertThat(json(get(null, eve), 200)).isEqualTo(frozen);
        assertThat(restricted("kind=frozen")).contains(name("eve"));
        assertThat(restricted("kind=blocked")).doesNotContain(name("eve"));

        assertProblem(claim("eve", packet), 403, "frozen");
        assertProblem(post("eve", "/v1/packets", UUID.randomUUID().toString(), packet("lucky", 10, 1)), 403, "frozen");
        assertProblem(
                post(null, eve + "/packets", UUID.randomUUID().toString(), packet("lucky", 10, 1)), 403, "frozen");
        assertThat(balance("eve")).isEqualTo(100);
        assertProblem(order("eve", eve + "/unfreeze"), 403, "forbidden");
        assertThat(json(order(null, eve + "/unfreeze"), 200).getValue("frozen")).isNull();
        assertThat(claim("eve", packet).statusCode()).isEqualTo(201);
    }

    /** Whom restrictions in force are of. */
    private List<String> restricted(String query) throws Exception {
        return items(get(null, "/v1/restrictions?" + query)).stream()
                .map(each -> each.getString("id"))
                .toList();
    }

    private static JsonObject campaign() {
        return new JsonObject("""
                {"name": "Shoes", "asset": "CNY", "budget": 500,
                 "pool": {"shares": 2, "amount": 100, "split": "equal", "livesSeconds": 600}}
                """).put("endsAt", Instant.now().plusSeconds(3600).toString());
    }

    /** Where a budget and prizes come from: a host is a user with wallets, too. */
    @Test
    void nothingLeavesTheWalletsOfAFrozenHost() throws Exception {
        // Given a campaign of a host who is frozen
        money("shop", "deposits", 1_000, UUID.randomUUID().toString(), 201);
        String campaign = json(post(null, "/v1/campaigns", UUID.randomUUID().toString(), campaign()), 201)
                .getString("id");
        long left = balance("shop");
        json(order(null, "/v1/users/" + name("shop") + "/freeze"), 200);
        try {
            // When, Then
            assertProblem(post(null, "/v1/campaigns", UUID.randomUUID().toString(), campaign()), 403, "frozen");
            assertProblem(
                    post(
                            null,
                            "/v1/campaigns/" + campaign + "/budget",
                            UUID.randomUUID().toString(),
                            new JsonObject().put("amount", 100)),
                    403,
                    "frozen");
            JsonObject draw = new JsonObject("""
                    {"name": "d", "mode": "table", "closesAt": "2035-01-01T00:00:00Z",
                     "prizes": [{"name": "a", "count": 1, "award": {"asset": "CNY", "amount": 100}}]}
                    """);
            assertProblem(post(null, "/v1/draws", UUID.randomUUID().toString(), draw), 403, "frozen");
            assertThat(balance("shop")).isEqualTo(left);
        } finally {
            json(order(null, "/v1/users/" + name("shop") + "/unfreeze"), 200);
        }
    }

    @ParameterizedTest
    @CsvSource({"block, 403, blocked", "revoke-tokens, 401, unauthenticated"})
    void whoMayComeInNoMoreIsToldNothingByAPollThatWaits(String order, int status, String problem) throws Exception {
        // Given one who waits for events of the group
        String user = "waits-" + order;
        String events = "/v1/groups/" + group + "/events";
        String next = json(get(user, events), 200).getString("next");
        double before = waiting();
        CompletableFuture<HttpResponse<String>> poll = HttpClient.newHttpClient()
                .sendAsync(
                        builder(user, events + "?after=" + next)
                                .header("Prefer", "wait=20")
                                .build(),
                        BodyHandlers.ofString());
        Eventually.eventually(
                Duration.ofSeconds(15), () -> assertThat(waiting()).isEqualTo(before + 1));

        // When
        json(order(null, "/v1/users/" + name(user) + "/" + order), 200);
        send("lucky", 10, 2);

        // Then
        assertProblem(poll.get(30, TimeUnit.SECONDS), status, problem);
    }

    private static double waiting() {
        return Exposition.of(URI.create(managed("/"))).sum("hongbao_http_polls");
    }

    @Test
    void aGroupIsBlocked() throws Exception {
        String packet = send("lucky", 10, 2);

        assertThat(json(order(null, "/v1/groups/" + group + "/block"), 200))
                .isEqualTo(new JsonObject().put("group", group).put("blocked", true));

        assertProblem(claim("ann", packet), 403, "blocked");
        assertThat(restricted("kind=frozen&scope=group")).isEmpty();
        assertThat(restricted("kind=blocked&scope=user")).doesNotContain(group);
        JsonObject change = items(get(null, "/v1/restrictions?kind=blocked&scope=group")).stream()
                .filter(each -> each.getString("id").equals(group))
                .findFirst()
                .orElseThrow();
        assertThat(change.getString("of") + " " + change.getString("kind") + " " + change.getString("change"))
                .isEqualTo("group blocked placed");
        json(order(null, "/v1/groups/" + group + "/unblock"), 200);
        assertThat(claim("ann", packet).statusCode()).isEqualTo(201);
        assertThat(items(get(null, "/v1/restrictions?show=all")).stream()
                        .filter(each -> each.getString("id").equals(group))
                        .map(each -> each.getString("change") + " " + each.getBoolean("inForce")))
                .containsExactly("lifted false", "placed false");
    }

    @Test
    void theBooksAreReadAsJsonAndAsCsv() throws Exception {
        money("fay", "deposits", 100, UUID.randomUUID().toString(), 201);
        money("fay", "withdrawals", 30, UUID.randomUUID().toString(), 201);
        String fay = "/v1/users/" + name("fay") + "/statement?asset=CNY";

        JsonObject statement = json(get(null, fay), 200);
        assertThat(statement.getLong("opening")).isZero();
        assertThat(statement.getLong("closing")).isEqualTo(70);
        List<JsonObject> moves = items(statement);
        assertThat(moves).hasSize(2);
        HttpResponse<String> csv =
                get(null, fay + "&format=csv&from=" + moves.get(1).getString("at"));
        assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
        assertThat(csv.body())
                .startsWith("\uFEFFid,at,kind,")
                .contains(",opening,CNY,,100,")
                .contains(",-30,70,");
        assertThat(items(get(null, "/v1/transfers?user=" + name("fay"))))
                .extracting(item -> item.getJsonObject("debit").getString("account"))
                .containsExactly("source", "wallet");
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        String days = "from=" + today.minusDays(1) + "&to=" + today.plusDays(2);
        assertThat(get(null, "/v1/ledger/totals?format=csv&" + days).body())
                .startsWith("\uFEFFday,asset,kind,")
                .contains(",CNY,withdrawal,1,30\r\n");
        assertThat(get(null, "/v1/ledger/totals?" + days).body()).contains("\"kind\":\"withdrawal\",\"transfers\":1");
        send("lucky", 10, 2);
        assertThat(items(get(null, "/v1/ledger/open-items"))).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/users/x/statement",
                "/v1/users/x/statement?asset=CNY&from=yesterday",
                "/v1/users/x/statement?asset=CNY&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
                "/v1/users/x/statement?asset=CNY&from=-999999-01-01T00:00:00Z",
                "/v1/transfers",
                "/v1/transfers?to=2026-01-01T00:00:00Z",
                "/v1/transfers?user=ann&cursor=t1.1",
                "/v1/transfers?from=2026-01-01T00:00:00Z&cursor=t1.1",
                "/v1/ledger/totals",
                "/v1/ledger/totals?from=2026-01-01&to=2025-01-01",
                "/v1/ledger/totals?from=2026-01-01&to=2027-12-01",
                "/v1/ledger/totals?from=2026-13-01&to=2027-12-01",
                "/v1/ledger/open-items?cursor=9.1.1",
                "/v1/restrictions?cursor=x",
                "/v1/restrictions?show=some"
            })
    void nonsenseIsRefused(String path) throws Exception {
        assertProblem(get(null, path), 400, "invalid-request");
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/ledger/totals?from=2026-02-30&to=2026-03-01, 'query/from must be a day, as 2026-02-17.'",
        "/v1/ledger/totals?from=2026-02-01&to=2026-13-01, 'query/to must be a day, as 2026-02-17.'",
    })
    void aDayThatThereIsNotIsToldInOurOwnWords(String path, String told) throws Exception {
        JsonObject problem = assertProblem(get(null, path), 400, "invalid-request");

        assertThat(problem.getString("detail")).isEqualTo(told);
    }
}
