package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What was won in a draw, and what the host application does about it, on the whole server. */
@ExtendWith(Servers.class)
class HttpWinIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    /** A table of ten plays: two phones, one coupon with a code, three amounts, four consolations; and a user's plays of all. */
    private String played() throws Exception {
        money("shop", "deposits", 300, UUID.randomUUID().toString(), 201);
        String draw = create("""
            {"mode": "table", "prizes": [
              {"name": "手机", "category": "goods", "count": 2, "picture": "https://img.example.com/phone.png?v=1", "text": "256 GB 黑色"},
              {"name": "券", "category": "coupon", "count": 1, "award": {"codes": ["C-1"]}},
              {"name": "红包", "category": "points", "count": 3, "award": {"asset": "CNY", "amount": 100}},
              {"name": "谢谢", "count": 4}]}
            """);
        json(post("ann", "/v1/draws/" + draw + "/plays", "k", new JsonObject().put("plays", 10)), 201);
        return draw;
    }

    private String create(String json) throws Exception {
        return json(made(json), 201).getString("id");
    }

    private HttpResponse<String> made(String json) throws Exception {
        JsonObject definition = new JsonObject(json).put("name", "wheel").put("closesAt", "2035-01-01T00:00:00Z");
        return post(null, "/v1/draws", UUID.randomUUID().toString(), definition);
    }

    private HttpResponse<String> change(String draw, long seq, String json) throws Exception {
        return send(builder(null, "/v1/draws/" + draw + "/wins/" + seq + "/fulfilment")
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(json)));
    }

    private List<JsonObject> wins(String draw, String query) throws Exception {
        return items(get(null, "/v1/draws/" + draw + "/wins" + query));
    }

    private static List<String> prizes(List<JsonObject> wins) {
        return wins.stream().map(win -> win.getString("prize")).toList();
    }

    @Test
    void winsArePickedOutByClassAndState() throws Exception {
        // Given
        String draw = played();

        // When and then: prize by prize, without the consolations; what the server hands out itself is done
        List<JsonObject> all = wins(draw, "");
        assertThat(prizes(all)).containsExactly("手机", "手机", "券", "红包", "红包", "红包");
        assertThat(all.stream().map(win -> win.getString("state")))
                .containsExactly("pending", "pending", "done", "done", "done", "done");
        assertThat(all.get(2).getString("code")).isEqualTo("C-1");
        assertThat(all.get(0).getString("category")).isEqualTo("goods");
        assertThat(all.get(0).getValue("changed")).isNull();
        assertThat(prizes(wins(draw, "?category=goods"))).containsExactly("手机", "手机");
        assertThat(prizes(wins(draw, "?state=done"))).containsExactly("券", "红包", "红包", "红包");
        assertThat(wins(draw, "?state=sent")).isEmpty();
        assertThat(wins(draw, "?category=nothing")).isEmpty();
        assertProblem(get(null, "/v1/draws/" + draw + "/wins?state=lost"), 400, "invalid-request");
        assertProblem(get(null, "/v1/draws/" + draw + "/wins?cursor=x"), 400, "invalid-request");

        // And pages of any size follow on each other
        for (int limit = 1; limit <= 6; limit++) {
            List<JsonObject> paged = new ArrayList<>();
            String cursor = "";
            while (cursor != null) {
                JsonObject page = json(get(null, "/v1/draws/" + draw + "/wins?limit=" + limit + cursor), 200);
                page.getJsonArray("items").forEach(win -> paged.add((JsonObject) win));
                cursor = page.getString("next") == null ? null : "&cursor=" + page.getString("next");
            }
            assertThat(paged).as("pages of %s", limit).isEqualTo(all);
        }
    }

    @Test
    void aWinsStateIsItsLastChangeAndItsHistoryOnlyGrows() throws Exception {
        // Given
        String draw = played();
        long seq = wins(draw, "?category=goods").get(0).getLong("seq");
        JsonObject won = json(get("ann", "/v1/draws/" + draw + "/plays?limit=10"), 200);

        // When it is sent, said so twice, and done
        json(change(draw, seq, "{\"state\": \"sent\", \"note\": \"SF 1\"}"), 200);
        json(change(draw, seq, "{\"state\": \"sent\", \"note\": \"SF 1\"}"), 200);
        JsonObject told = json(change(draw, seq, "{\"state\": \"done\", \"note\": null}"), 200);

        // Then
        assertThat(told.getString("state")).isEqualTo("done");
        assertThat(json(get(null, "/v1/draws/" + draw + "/wins/" + seq), 200)).isEqualTo(told);
        assertThat(told.getJsonArray("history").stream().map(JsonObject.class::cast))
                .extracting(change -> change.getString("state"), change -> change.getString("note"))
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("sent", "SF 1"),
                        org.assertj.core.groups.Tuple.tuple("done", null));
        assertThat(told.getJsonArray("history").getJsonObject(0).getString("actor"))
                .isEqualTo(name("shop"));
        assertThat(prizes(wins(draw, "?state=pending"))).containsExactly("手机");
        assertThat(wins(draw, "?state=done&category=goods")).singleElement().satisfies(win -> {
            assertThat(win.getLong("seq")).isEqualTo(seq);
            assertThat(win.getJsonObject("changed"))
                    .isEqualTo(told.getJsonArray("history").getJsonObject(1));
        });
        // and the winner sees how far it is, but no note; the rest of the play is what it was
        String listed = get("ann", "/v1/draws/" + draw + "/plays?limit=10").body();
        assertThat(listed).doesNotContain("SF 1");
        JsonArray plays = new JsonObject(listed).getJsonArray("items");
        JsonObject mine = plays.getJsonObject(9 - (int) seq);
        assertThat(mine.getString("state")).isEqualTo("done");
        assertThat(won.getJsonArray("items").getJsonObject(9 - (int) seq).getString("state"))
                .isEqualTo("pending");
        JsonObject again =
                json(post("ann", "/v1/draws/" + draw + "/plays", "k", new JsonObject().put("plays", 10)), 200);
        assertThat(again.getJsonArray("items").getJsonObject((int) seq)).isEqualTo(without(mine, "state"));
        // and no row is ever changed, whoever tries
        for (String forged :
                List.of("update fulfilment set state = 'done'", "delete from fulfilment", "truncate fulfilment")) {
            assertThat(refusal(forged)).contains("is never changed");
        }
    }

    private static JsonObject without(JsonObject object, String field) {
        JsonObject copy = object.copy();
        copy.remove(field);
        return copy;
    }

    private static String refusal(String sql) {
        try (Connection database = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = database.createStatement()) {
            statement.execute(sql);
            return "done";
        } catch (SQLException refused) {
            return refused.getMessage();
        }
    }

    @Test
    void changesAtTheSameMomentAreAllKept() throws Exception {
        // Given
        String draw = played();
        long seq = wins(draw, "?category=goods").get(1).getLong("seq");

        // When four change the same win at once
        ExecutorService crowd = Executors.newFixedThreadPool(4);
        List<Future<HttpResponse<String>>> changes = IntStream.range(0, 4)
                .mapToObj(i ->
                        crowd.submit(() -> change(draw, seq, "{\"state\": \"sent\", \"note\": \"parcel " + i + "\"}")))
                .toList();
        for (Future<HttpResponse<String>> change : changes) {
            json(change.get(), 200);
        }
        crowd.shutdown();

        // Then
        assertThat(json(get(null, "/v1/draws/" + draw + "/wins/" + seq), 200).getJsonArray("history").stream()
                        .map(change -> ((JsonObject) change).getString("note")))
                .containsExactlyInAnyOrder("parcel 0", "parcel 1", "parcel 2", "parcel 3");
    }

    @Test
    void whatIsPaidOrNotWonOrForOthersIsRefused() throws Exception {
        // Given
        String draw = played();
        long paid = wins(draw, "?category=points").get(0).getLong("seq");
        long coupon = wins(draw, "?category=coupon").get(0).getLong("seq");
        List<Long> won = wins(draw, "").stream().map(win -> win.getLong("seq")).toList();
        long consolation = IntStream.range(0, 10)
                .filter(seq -> !won.contains((long) seq))
                .findFirst()
                .orElseThrow();
        String sent = "{\"state\": \"sent\"}";

        // When and then
        assertProblem(change(draw, paid, sent), 422, "infeasible");
        assertProblem(change(draw, consolation, sent), 404, "not-found");
        assertProblem(change(draw, 10, sent), 404, "not-found");
        assertProblem(change(UUID.randomUUID().toString(), 0, sent), 404, "not-found");
        assertProblem(change(draw, coupon, "{\"state\": \"lost\"}"), 400, "invalid-request");
        assertProblem(
                change(draw, coupon, "{\"state\": \"sent\", \"note\": \"" + "x".repeat(501) + "\"}"),
                400,
                "invalid-request");
        assertProblem(get("ann", "/v1/draws/" + draw + "/wins"), 403, "forbidden");
        assertProblem(get("ann", "/v1/draws/" + draw + "/wins/export"), 403, "forbidden");
        assertProblem(get("ann", "/v1/draws/" + draw + "/wins/" + coupon), 403, "forbidden");
        // a code that was handed out may turn out to be a bad one
        assertThat(json(change(draw, coupon, "{\"state\": \"pending\"}"), 200).getString("state"))
                .isEqualTo("pending");
        new Books(servers).assertClean();
    }

    @Test
    void aWinIsChangedAtMostAHundredTimes() throws Exception {
        // Given
        String draw = played();
        long seq = wins(draw, "?category=goods").get(0).getLong("seq");
        new Books(servers)
                .execute(
                        "insert into fulfilment (draw, seq, n, state, actor) select '" + draw + "', " + seq
                                + ", n, case n % 2 when 1 then 'sent' else 'pending' end, 'shop' from generate_series(1, 99) as n");

        // When and then
        json(change(draw, seq, "{\"state\": \"pending\"}"), 200);
        assertProblem(change(draw, seq, "{\"state\": \"done\"}"), 422, "infeasible");
        json(change(draw, seq, "{\"state\": \"pending\"}"), 200);
    }

    @Test
    void anExportOpensInASpreadsheet() throws Exception {
        // Given
        String draw = played();
        long seq = wins(draw, "?category=goods").get(0).getLong("seq");
        json(change(draw, seq, "{\"state\": \"sent\", \"note\": \"=1+1, 顺丰\"}"), 200);

        // When
        HttpResponse<String> csv = get(null, "/v1/draws/" + draw + "/wins/export?format=csv&category=goods");
        HttpResponse<String> lines = get(null, "/v1/draws/" + draw + "/wins/export?state=sent");

        // Then
        assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
        List<String> rows = List.of(csv.body().split("\r\n"));
        assertThat(rows).hasSize(3);
        assertThat(rows.get(0))
                .isEqualTo("\uFEFFseq,user,prize,category,asset,amount,code,at,state,note,actor,changedAt,metadata");
        assertThat(rows.get(1))
                .startsWith(seq + ",")
                .contains(",手机,goods,,,,", ",sent,\"'=1+1, 顺丰\"," + name("shop") + ",");
        assertThat(rows.get(2)).endsWith(",pending,,,,");
        assertThat(lines.body().lines().map(JsonObject::new))
                .singleElement()
                .satisfies(win -> assertThat(win.getLong("seq")).isEqualTo(seq));
    }

    @Test
    void aPrizesPictureAndTextAreShown() throws Exception {
        // Given
        String draw = played();

        // When
        JsonObject phone = json(get("ann", "/v1/draws/" + draw), 200)
                .getJsonArray("prizes")
                .getJsonObject(0);

        // Then
        assertThat(phone.getString("category")).isEqualTo("goods");
        assertThat(phone.getString("picture")).isEqualTo("https://img.example.com/phone.png?v=1");
        assertThat(phone.getString("text")).isEqualTo("256 GB 黑色");
        // and nothing that could be more than a picture or a text is taken
        for (String label : List.of("\"picture\": \"javascript:alert(1)\"", "\"text\": \"\\u202Etxt.exe\"")) {
            assertProblem(
                    made("{\"mode\": \"table\", \"prizes\": [{\"name\": \"a\", \"count\": 1, " + label + "}]}"),
                    400,
                    "invalid-request");
        }
    }

    @Test
    void whatIsMissingForADrawIsNamed() throws Exception {
        // Given a wallet with part of what can be won
        String points = "P" + UUID.randomUUID().toString().substring(0, 8).toUpperCase(java.util.Locale.ROOT);
        String gems = "G" + points;
        declare(points);
        declare(gems);
        deposit("shop", points, 7);

        // When
        HttpResponse<String> refused = made("""
            {"mode": "table", "prizes": [
              {"name": "a", "count": 2, "award": {"asset": "%s", "amount": 6}},
              {"name": "b", "count": 3, "award": {"asset": "%s", "amount": 10}}]}
            """.formatted(points, gems));

        // Then
        assertProblem(refused, 402, "insufficient-funds");
        assertThat(new JsonObject(refused.body()).getString("detail")).contains("lack 30 " + gems + ", 5 " + points);
    }
}
