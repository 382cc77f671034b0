package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user received and sent in a time, as sums and as lists. */
@ExtendWith(Servers.class)
class HttpSummaryIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private JsonObject summary(String user, String query) throws Exception {
        return json(get(user, "/v1/me/summary" + query), 200);
    }

    private List<String> ids(String user, String path, String field) throws Exception {
        return items(get(user, path)).stream()
                .map(item -> item.getString(field))
                .toList();
    }

    private static String time(String instant) {
        return URLEncoder.encode(instant, StandardCharsets.UTF_8);
    }

    /** Sends from one's own wallet. */
    private JsonObject sent(String user, JsonObject packet) throws Exception {
        String key = UUID.randomUUID().toString();
        deposit(user, packet.getString("asset"), packet.getLong("amount"));
        return json(post(user, "/v1/packets", key, packet), 201);
    }

    @Test
    void itAddsUpWhatWasReceivedAndSentInATime() throws Exception {
        // Given before: a packet of ann's, of which bob has a share
        String before = sent("ann", packet("equal", 100, 2)).getString("id");
        Instant claimed = Instant.parse(json(claim("bob", before), 201).getString("at"));
        String from = claimed.plusNanos(1_000).toString();

        // And in the time a claim on that packet: it counts when it is made, and a packet when it is sent
        json(claim("carl", before), 201);

        // When in the time: a lucky one that is drained, a single share, an equal one, one of points, one that comes
        // back
        String lucky = sent("ann", packet("lucky", 1_000, 2)).getString("id");
        List<JsonObject> shares = Stream.of(json(claim("bob", lucky), 201), json(claim("carl", lucky), 201))
                .toList();
        String single = sent("ann", packet("lucky", 50, 1)).getString("id");
        json(claim("bob", single), 201);
        String equal = sent("ann", packet("equal", 40, 2)).getString("id");
        json(claim("bob", equal), 201);
        json(claim("carl", equal), 201);
        String points =
                sent("ann", packet("equal", 9, 3).put("asset", "POINTS")).getString("id");
        json(claim("bob", points), 201);
        String back = sent("ann", packet("equal", 600, 3)).getString("id");
        json(claim("bob", back), 201);
        json(send(builder(null, "/v1/packets/" + back + "/close").POST(BodyPublishers.noBody())), 200);

        // Then the sums are exact
        JsonObject sum = summary("bob", "?from=" + time(from));
        long won = shares.get(0).getLong("amount");
        JsonObject view = json(get("bob", "/v1/packets/" + lucky), 200);
        boolean luckiest = view.getJsonObject("luckiest").getString("user").equals(name("bob"));
        assertThat(sum)
                .isEqualTo(new JsonObject()
                        .put(
                                "received",
                                new JsonArray()
                                        .add(received("CNY", 4, won + 50 + 20 + 200, luckiest ? 1 : 0))
                                        .add(received("POINTS", 1, 3, 0)))
                        .put("sent", new JsonArray()));
        JsonObject anns = summary("ann", "?from=" + time(from));
        assertThat(anns.getJsonArray("received")).isEmpty();
        assertThat(anns.getJsonArray("sent"))
                .isEqualTo(new JsonArray()
                        .add(sent("CNY", 4, 1_000 + 50 + 40 + 600, 400))
                        .add(sent("POINTS", 1, 9, 0)));
        long luck = summary("bob", "").getJsonArray("received").getJsonObject(0).getLong("luckiest")
                + summary("carl", "").getJsonArray("received").getJsonObject(0).getLong("luckiest");
        assertThat(luck).as("one is the luckiest of the lucky packet").isEqualTo(1);

        // Then the lists of the time have the same, also page by page
        List<String> claimsOf = ids("bob", "/v1/me/claims?from=" + time(from), "packet");
        assertThat(claimsOf).containsExactly(back, points, equal, single, lucky);
        JsonObject page = json(get("bob", "/v1/me/claims?limit=3&from=" + time(from)), 200);
        assertThat(ids(
                        "bob",
                        "/v1/me/claims?limit=3&from=" + time(from) + "&cursor=" + page.getString("next"),
                        "packet"))
                .containsExactly(single, lucky);
        assertThat(ids("ann", "/v1/me/packets?from=" + time(from), "id"))
                .containsExactly(back, points, equal, single, lucky);

        // Then the claim belongs to the time of the claim
        assertThat(ids("carl", "/v1/me/claims?from=" + time(from), "packet")).containsExactly(equal, lucky, before);
        assertThat(summary("carl", "?from=" + time(from))
                        .getJsonArray("received")
                        .getJsonObject(0)
                        .getLong("count"))
                .isEqualTo(3);
        assertThat(summary("carl", "?to=" + time(from)).getJsonArray("received"))
                .isEmpty();

        // Then each says who sent it, and whether it was the largest
        JsonObject all = json(get("bob", "/v1/me/claims?from=" + time(from)), 200);
        assertThat(items(all)).allMatch(item -> item.getString("sender").equals(name("ann")));
        assertThat(items(all).stream().filter(item -> item.getBoolean("luckiest")))
                .hasSize(luckiest ? 1 : 0);

        // Then what was before is in the time before, and in all
        assertThat(ids("bob", "/v1/me/claims?to=" + time(from), "packet")).containsExactly(before);
        assertThat(ids("ann", "/v1/me/packets?to=" + time(from), "id")).containsExactly(before);
        assertThat(summary("bob", "?to=" + time(from)).getJsonArray("received"))
                .isEqualTo(new JsonArray().add(received("CNY", 1, 50, 0)));
        assertThat(summary("ann", "?to=" + time(from)).getJsonArray("sent"))
                .isEqualTo(new JsonArray().add(sent("CNY", 1, 100, 0)));
        assertThat(summary("ann", "").getJsonArray("sent").getJsonObject(0).getLong("count"))
                .isEqualTo(5);

        // Then the reader's calendar is the caller's: the same moment in another zone is the same time
        String inShanghai = Instant.parse(from)
                .atZone(ZoneId.of("Asia/Shanghai"))
                .toOffsetDateTime()
                .toString();
        assertThat(summary("bob", "?from=" + time(inShanghai))).isEqualTo(sum);

        // Then a year without anything is empty
        String year2001 = "?from=2001-01-01T00:00:00Z&to=2002-01-01T00:00:00Z";
        assertThat(summary("bob", year2001)).isEqualTo(new JsonObject("{\"received\": [], \"sent\": []}"));
        assertThat(items(get("bob", "/v1/me/claims" + year2001))).isEmpty();
        assertThat(items(get("ann", "/v1/me/packets" + year2001))).isEmpty();
    }

    private static JsonObject received(String asset, long count, long amount, long luckiest) {
        return new JsonObject()
                .put("asset", asset)
                .put("count", count)
                .put("amount", amount)
                .put("amountText", Long.toString(amount))
                .put("luckiest", luckiest);
    }

    private static JsonObject sent(String asset, long count, long amount, long refunded) {
        return new JsonObject()
                .put("asset", asset)
                .put("count", count)
                .put("amount", amount)
                .put("amountText", Long.toString(amount))
                .put("refunded", refunded)
                .put("refundedText", Long.toString(refunded));
    }

    @ParameterizedTest
    @ValueSource(strings = {"from=2026", "to=tomorrow", "from=%2B999999999-12-31T00:00:00Z", "year=2026"})
    void whatIsNoTimeIsRefused(String query) throws Exception {
        for (String path : List.of("/v1/me/summary", "/v1/me/claims", "/v1/me/packets")) {
            HttpResponse<String> answer = get("bob", path + "?" + query);
            assertProblem(answer, 400, "invalid-request");
        }
    }
}
