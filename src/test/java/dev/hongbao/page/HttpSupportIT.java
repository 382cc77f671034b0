package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the host's support sees and does, on the whole server. */
@ExtendWith(Servers.class)
class HttpSupportIT extends TestServerClient {
    private static Books books;

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
        books = new Books(given);
    }

    @AfterAll
    static void theBooksAddUp() {
        books.assertClean();
    }

    private static String key() {
        return UUID.randomUUID().toString();
    }

    /** Of the role service, whose token names no group of the test's. */
    private HttpResponse<String> asSupport(String path) throws Exception {
        return send(builder(null, "elsewhere", path).GET());
    }

    private HttpResponse<String> tell(String path) throws Exception {
        return send(builder(null, "elsewhere", path).POST(BodyPublishers.noBody()));
    }

    private List<String> ids(String path) throws Exception {
        return items(asSupport(path)).stream().map(item -> item.getString("id")).toList();
    }

    @Test
    void supportSeesAllOfAPacketButItsPasscodeAndTheSeedOfAnOpenOne() throws Exception {
        // Given an exclusive packet with a passcode, of which one share is claimed
        String id = send(packet("exclusive", 300, 2)
                .put("recipients", new JsonArray().add(name("bob")).add(name("carl")))
                .put("passcode", "open sesame"));
        long won = json(claim("bob", id, "open sesame"), 201).getLong("amount");

        // When
        JsonObject seen = json(asSupport("/v1/packets/" + id), 200);

        // Then
        assertThat(seen.getJsonObject("claimed")).isEqualTo(new JsonObject("{\"count\": 1, \"amount\": " + won + "}"));
        assertThat(seen.getValue("seed")).isNull();
        assertThat(seen.getValue("mine")).isNull();
        assertThat(seen.encode()).doesNotContain("sesame");
        JsonObject file = seen.getJsonObject("file");
        assertThat(file.getLong("held")).isEqualTo(300 - won);
        assertThat(file.getLong("refunded")).isZero();
        assertThat(file.getJsonArray("recipients")).containsExactly(name("bob"), name("carl"));
        assertThat(file.getString("sentBy")).isEqualTo(name("sender"));
        assertThat(file.getValue("closedAt")).isNull();
        assertThat(file.getValue("endedBy")).isNull();

        // Then the claims with their amounts, each by its slot, too
        JsonObject claim = items(asSupport("/v1/packets/" + id + "/claims")).get(0);
        assertThat(claim.getLong("amount")).isEqualTo(won);
        assertThat(json(asSupport("/v1/packets/" + id + "/claims/0"), 200)).isEqualTo(claim);
        assertProblem(asSupport("/v1/packets/" + id + "/claims/1"), 404, "not-found");
        assertProblem(asSupport("/v1/packets/" + id + "/claims/01"), 400, "invalid-request");
        assertProblem(asSupport("/v1/packets/" + UUID.randomUUID()), 404, "not-found");

        // Then a user, also a winner, is not told
        assertThat(json(get("bob", "/v1/packets/" + id), 200).containsKey("file"))
                .isFalse();
    }

    @Test
    void packetsAreListedByGroupSenderStatusAndTime() throws Exception {
        // Given one in each state, and another group's
        String open = send("lucky", 100, 2);
        String drained = send("lucky", 100, 1);
        json(claim("bob", drained), 201);
        String cancelled = send("lucky", 100, 2);
        assertThat(json(tell("/v1/packets/" + cancelled + "/cancel"), 200).getString("status"))
                .isEqualTo("cancelled");
        String closed = send("lucky", 100, 2);
        json(claim("bob", closed), 201);
        assertProblem(tell("/v1/packets/" + closed + "/cancel"), 409, "claimed");
        JsonObject over = json(tell("/v1/packets/" + closed + "/close"), 200);
        assertThat(over.getString("status")).isEqualTo("closed");
        assertThat(over.getJsonObject("file").getString("endedBy")).isEqualTo(name("shop"));
        String refunded = send(packet("lucky", 100, 2).put("expiresInSeconds", 1));
        eventually(() -> json(asSupport("/v1/packets/" + refunded), 200)
                .getString("status")
                .equals("refunded"));
        String first = json(asSupport("/v1/packets/" + open), 200).getString("createdAt");
        String last = json(asSupport("/v1/packets/" + refunded), 200).getString("createdAt");

        // When, then
        List<String> all = List.of(refunded, closed, cancelled, drained, open);
        String mine = "/v1/packets?sender=" + name("sender");
        assertThat(ids(mine)).isEqualTo(all);
        assertThat(ids("/v1/packets?group=" + group)).isEqualTo(all);
        assertThat(ids("/v1/packets?group=" + group + "&sender=nobody")).isEmpty();
        assertThat(ids("/v1/packets?limit=5")).isEqualTo(all);
        assertThat(ids("/v1/users/" + name("sender") + "/packets")).isEqualTo(all);
        List<String> states = List.of("refunded", "closed", "cancelled", "drained", "open");
        for (int i = 0; i < states.size(); i++) {
            assertThat(ids(mine + "&status=" + states.get(i))).containsExactly(all.get(i));
            assertThat(ids("/v1/packets?limit=1&status=" + states.get(i))).containsExactly(all.get(i));
        }
        assertThat(ids(mine + "&status=expired")).isEmpty();
        assertThat(ids("/v1/packets?status=expired")).isEmpty();
        assertThat(ids(mine + "&from=" + last)).containsExactly(refunded);
        assertThat(ids(mine + "&to=" + first)).isEmpty();
        assertThat(ids(mine + "&from=" + first + "&to=" + last)).isEqualTo(all.subList(1, 5));

        // Then page by page
        List<String> paged = new ArrayList<>();
        String cursor = "";
        while (cursor != null) {
            JsonObject page = json(asSupport(mine + "&limit=2" + cursor), 200);
            page.getJsonArray("items").forEach(item -> paged.add(((JsonObject) item).getString("id")));
            cursor = page.getString("next") == null ? null : "&cursor=" + page.getString("next");
        }
        assertThat(paged).isEqualTo(all);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/packets?status=gone",
                "/v1/packets?from=yesterday",
                "/v1/packets?to=2026-01-01",
                "/v1/packets?from=%2B999999999-12-31T00:00:00Z",
                "/v1/packets?group=%20",
                "/v1/users/bob/plays?cursor=01939d1e-8c00-7000-8000-000000000001.99999999999999999999",
                "/v1/draws?status=gone"
            })
    void whatALookUpDoesNotUnderstandIsRefused(String path) throws Exception {
        assertProblem(asSupport(path), 400, "invalid-request");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/packets?cursor=x",
                "/v1/users/bob/plays?cursor=x",
                "/v1/users/bob/claims?cursor=x",
                "/v1/draws?cursor=x",
                "/v1/draws/01939d1e-8c00-7000-8000-000000000001/plays?cursor=x",
                "/v1/draws/01939d1e-8c00-7000-8000-000000000001/wins?cursor=x"
            })
    void aCursorThatNoPageGaveIsToldByItsPlace(String path) throws Exception {
        JsonObject problem = assertProblem(asSupport(path), 400, "invalid-request");

        assertThat(problem.getJsonArray("errors"))
                .containsExactly(new JsonObject()
                        .put("pointer", "query/cursor")
                        .put("detail", "is not a cursor of this server"));
    }

    @Test
    void whatIsCancelledIsToldInTheGroupAndToTheHost() throws Exception {
        // Given
        String cursor = json(get("bob", "/v1/groups/" + group + "/events"), 200).getString("next");
        String id = send("lucky", 100, 2);

        // When
        json(tell("/v1/packets/" + id + "/cancel"), 200);

        // Then
        String path = "/v1/groups/" + group + "/events?after=" + cursor;
        eventually(() -> items(get("bob", path)).size() == 2);
        JsonObject told = items(get("bob", path)).get(1);
        assertThat(told.getString("type")).isEqualTo("packet.refunded");
        assertThat(told.getJsonObject("data").getString("status")).isEqualTo("cancelled");
        assertThat(told.getJsonObject("data").getLong("amount")).isEqualTo(100);
        assertProblem(claim("bob", id), 410, "expired");
    }

    @Test
    void aPacketIsSentForAUser() throws Exception {
        // Given a user with less than the packet takes
        String path = "/v1/users/" + name("ann") + "/packets";
        String key = key();
        money("ann", "deposits", 60, key(), 201);
        HttpResponse<String> poor = post(null, path, key, packet("lucky", 100, 2));
        assertProblem(poor, 402, "insufficient-funds");
        assertThat(poor.body()).contains(name("ann"), "lacks 40 CNY");

        // When
        money("ann", "deposits", 40, key(), 201);
        HttpResponse<String> sent = post(null, path, key, packet("lucky", 100, 2));

        // Then the user is the sender, and the books say who asked for it
        String id = json(sent, 201).getString("id");
        assertThat(sent.headers().firstValue("Location")).contains("/v1/packets/" + id);
        assertThat(json(sent, 201).getString("sender")).isEqualTo(name("ann"));
        assertThat(balance("ann")).isZero();
        assertThat(json(asSupport("/v1/packets/" + id), 200)
                        .getJsonObject("file")
                        .getString("sentBy"))
                .isEqualTo(name("shop"));
        assertThat(json(get("ann", "/v1/packets/" + id), 200).containsKey("file"))
                .isFalse();
        assertThat(items(get("ann", "/v1/me/packets")).get(0).getString("id")).isEqualTo(id);

        // Then a repetition is the same one, and the key is nobody else's
        assertThat(json(post(null, path, key, packet("lucky", 100, 2)), 201).getString("id"))
                .isEqualTo(id);
        assertProblem(
                post(null, "/v1/users/" + name("bob") + "/packets", key, packet("lucky", 100, 2)),
                422,
                "idempotency-key-reused");
        assertThat(books.longOf("select count(*) from packet where sender = '" + name("ann") + "'"))
                .isEqualTo(1);

        // Then its remainder goes back to the user
        json(claim("bob", id), 201);
        long left = json(tell("/v1/packets/" + id + "/close"), 200)
                .getJsonObject("file")
                .getLong("refunded");
        assertThat(balance("ann")).isEqualTo(left).isPositive();
    }

    @Test
    void aUsersClaimsAndPlaysAndAllDrawsAreListed() throws Exception {
        // Given
        String packet = send("lucky", 100, 1);
        json(claim("eve", packet), 201);
        List<String> draws = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            JsonObject draw = new JsonObject("""
                    {"name": "wheel", "closesAt": "2035-01-01T00:00:00Z", "mode": "weights",
                     "prizes": [{"name": "thanks", "weight": 1}]}
                    """);
            draws.add(json(post(null, "/v1/draws", key(), draw), 201).getString("id"));
            json(post("eve", "/v1/draws/" + draws.get(i) + "/plays", key(), new JsonObject().put("plays", 3)), 201);
        }

        // When, then
        String user = "/v1/users/" + name("eve");
        assertThat(items(asSupport(user + "/claims")))
                .extracting(claim -> claim.getString("packet"))
                .contains(packet);
        List<JsonObject> plays = items(asSupport(user + "/plays"));
        assertThat(plays.subList(0, 6))
                .extracting(play -> play.getString("draw") + " " + play.getLong("seq"))
                .containsExactly(
                        draws.get(1) + " 2",
                        draws.get(1) + " 1",
                        draws.get(1) + " 0",
                        draws.get(0) + " 2",
                        draws.get(0) + " 1",
                        draws.get(0) + " 0");
        JsonObject page = json(asSupport(user + "/plays?limit=4"), 200);
        assertThat(items(asSupport(user + "/plays?limit=1&cursor=" + page.getString("next"))))
                .containsExactly(plays.get(4));
        assertThat(json(asSupport("/v1/draws/" + draws.get(0) + "/plays/1"), 200))
                .isEqualTo(plays.get(4));
        assertProblem(asSupport("/v1/draws/" + draws.get(0) + "/plays/3"), 404, "not-found");
        assertThat(items(asSupport("/v1/users/" + name("nobody") + "/plays"))).isEmpty();

        // Then
        assertThat(ids("/v1/draws?limit=2")).containsExactly(draws.get(1), draws.get(0));
        assertThat(ids("/v1/draws?status=open&limit=1")).containsExactly(draws.get(1));
        json(tell("/v1/draws/" + draws.get(1) + "/close"), 202);
        eventually(() -> ids("/v1/draws?status=closed").contains(draws.get(1)));
        assertThat(ids("/v1/draws?status=open")).contains(draws.get(0)).doesNotContain(draws.get(1));
        assertThat(ids("/v1/draws?status=planned")).isEmpty();
        JsonObject listed = items(asSupport("/v1/draws?status=open")).get(0);
        assertThat(listed.getString("owner")).isEqualTo(name("shop"));
        assertThat(listed.getString("mode")).isEqualTo("weights");
    }

    private JsonObject deposits(int count, long amount) {
        JsonArray list = new JsonArray();
        IntStream.range(0, count)
                .forEach(i -> list.add(new JsonObject()
                        .put("user", name("u" + i))
                        .put("asset", "CNY")
                        .put("amount", amount)));
        return new JsonObject().put("deposits", list);
    }

    @Test
    void aThousandDepositsAreMadeAtOnce() throws Exception {
        // Given, with one user twice
        JsonObject wish = deposits(1_000, 7);
        wish.getJsonArray("deposits").getJsonObject(999).put("user", name("u0")).put("reference", "ref-" + name("u0"));
        String key = key();

        // When, and again, at the same time and later
        List<CompletableFuture<HttpResponse<String>>> calls = Stream.of(1, 2, 3)
                .map(i -> CompletableFuture.supplyAsync(() -> {
                    try {
                        return post(null, "/v1/deposits", key, wish);
                    } catch (Exception failed) {
                        throw new IllegalStateException(failed);
                    }
                }))
                .toList();
        JsonObject made = json(calls.get(0).get(), 201);

        // Then
        List<JsonObject> entries =
                made.getJsonArray("items").stream().map(JsonObject.class::cast).toList();
        assertThat(entries)
                .hasSize(1_000)
                .extracting(entry -> entry.getLong("amount"))
                .containsOnly(7L);
        assertThat(entries).extracting(entry -> entry.getString("id")).doesNotHaveDuplicates();
        assertThat(json(calls.get(1).get(), 201)).isEqualTo(made);
        assertThat(json(calls.get(2).get(), 201)).isEqualTo(made);
        assertThat(json(post(null, "/v1/deposits", key, wish), 201)).isEqualTo(made);
        assertThat(balance("u0")).isEqualTo(14);
        assertThat(balance("u998")).isEqualTo(7);
        assertThat(items(get("u998", "/v1/me/transfers")).get(0).getString("id"))
                .isEqualTo(entries.get(998).getString("id"));
        assertProblem(post(null, "/v1/deposits", key, deposits(2, 7)), 422, "idempotency-key-reused");

        // Then each has a command of its own, and an event
        assertThat(books.strings(
                        "select count(distinct id) || ' ' || count(reference) from command where key = '" + key + "'"))
                .containsExactly("1000 1");
        assertThat(books.longOf("select count(*) from outbox as o cross join lateral"
                        + " outbox_events(o.type, array[o.shard], array[o.n]) as e"
                        + " where o.type = 'transfer.deposit' and e.data::json ->> 'user' like '%"
                        + name("u0").substring(2) + "'"
                        + " and (e.data::json ->> 'amount')::bigint = 7"))
                .isEqualTo(1_000);
    }

    @Test
    void depositsAreAllMadeOrNone() throws Exception {
        // Given one that leaves the ledger's range, after others
        JsonObject wish = deposits(3, 99_999_999_999_999L);
        String asset = "A" + group.substring(6).toUpperCase(Locale.ROOT);
        declare(asset);
        wish.getJsonArray("deposits").forEach(one -> ((JsonObject) one).put("asset", asset));
        books.execute("insert into account (kind, owner, asset, balance) values ('source', 'outside', '" + asset
                + "', -8999800000000000000)");

        // When
        HttpResponse<String> refused = post(null, "/v1/deposits", key(), wish);

        // Then
        assertProblem(refused, 422, "balance-limit");
        assertThat(refused.body()).contains("#/deposits/2 ");
        assertThat(balance("u0")).isZero();
        books.execute("delete from account where asset = '" + asset + "'");
    }

    @Test
    void everyDepositOfAnAssetThatNobodyDeclaredIsToldByItsPlace() throws Exception {
        // Given
        JsonObject wish = deposits(4, 5);
        wish.getJsonArray("deposits").getJsonObject(1).put("asset", "NONE-A");
        wish.getJsonArray("deposits").getJsonObject(2).put("asset", "NONE-B");

        // When
        JsonObject problem = assertProblem(post(null, "/v1/deposits", key(), wish), 422, "unknown-asset");

        // Then
        assertThat(problem.getString("detail")).startsWith("There is no asset NONE-A here.");
        assertThat(problem.getJsonArray("errors").stream().map(error -> ((JsonObject) error).getString("pointer")))
                .containsExactly("#/deposits/1/asset", "#/deposits/2/asset");
        assertThat(balance("u0")).isZero();

        // Then of many the first ten
        JsonObject many = deposits(30, 5);
        many.getJsonArray("deposits").forEach(one -> ((JsonObject) one).put("asset", "NONE-A"));
        assertThat(assertProblem(post(null, "/v1/deposits", key(), many), 422, "unknown-asset")
                        .getJsonArray("errors"))
                .hasSize(10);
    }
}
