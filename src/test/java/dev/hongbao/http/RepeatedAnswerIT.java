package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Operation;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every call that has an {@code Idempotency-Key} says when its answer repeats an earlier command's, and refuses another command. */
@ExtendWith(Servers.class)
class RepeatedAnswerIT extends TestServerClient {
    private static final String REPLAYED = "Idempotency-Replayed";

    private static Books books;

    /** @param user null for the service */
    private record Wish(
            @Nullable String user, String path, @Nullable JsonObject body) {}

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("webhooks.private-networks", "127.0.0.0/8"));
        books = new Books(given);
    }

    @AfterAll
    static void theBooksAddUp() {
        books.assertClean();
    }

    /** All of the contract: a call that is added and not known below fails. */
    static List<String> callsWithAKey() {
        return Contract.load().operations().stream()
                .filter(operation -> operation.needs().idempotencyKey())
                .map(Operation::id)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("callsWithAKey")
    void theSecondAnswerSaysThatItIsTheFirstOnesAgain(String call) throws Exception {
        // Given
        Wish wish = wish(call);
        String key = UUID.randomUUID().toString();

        // When it is asked twice, with its fields in another order
        HttpResponse<String> first = ask(wish, key);
        HttpResponse<String> again = ask(new Wish(wish.user, wish.path, backwards(wish.body)), key);

        // Then both succeed, and the second says so
        assertThat(first.statusCode()).as(first.body()).isBetween(200, 201);
        assertThat(first.headers().firstValue(REPLAYED)).isEmpty();
        assertThat(again.statusCode()).as(again.body()).isBetween(200, 201);
        assertThat(again.headers().allValues(REPLAYED)).containsExactly("true");
        assertThat(again.body()).isEqualTo(first.body());

        // Then it is the first answer, too, for a token that has left the group
        if (wish.user != null) {
            HttpResponse<String> outside = ask(wish, "elsewhere", key);
            assertThat(outside.statusCode()).as(outside.body()).isEqualTo(again.statusCode());
            assertThat(outside.headers().allValues(REPLAYED)).containsExactly("true");
            assertThat(outside.body()).isEqualTo(again.body());
            HttpResponse<String> anew = ask(wish, "elsewhere", key + "2");
            assertThat(anew.statusCode()).as(anew.body()).isEqualTo(403);
        }

        // Then another command under the same key is refused, and repeats nothing
        if (wish.body != null && !call.equals("redeliverWebhook")) {
            HttpResponse<String> other = ask(wish(call), key);
            assertThat(other.headers().firstValue(REPLAYED)).as(other.body()).isEmpty();
            if (!call.startsWith("play")) { // a key of a play is a draw's
                assertProblem(other, 422, "idempotency-key-reused");
            }
        }
    }

    /** {@code FingerprintTest} has all fields of a send and of a draw. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "deposit         | {'asset': 'GOLD'}",
                "deposit         | {'reference': 'order-2'}",
                "deposit         | {'reason': 'bonus'}",
                "depositMany     | {'deposits': [{'user': 'other'}]}",
                "depositMany     | {'deposits': [{'asset': 'GOLD'}]}",
                "depositMany     | {'deposits': [{'amount': 1}]}",
                "depositMany     | {'deposits': [{'reference': 'order-2'}]}",
                "depositMany     | {'deposits': [{'reason': 'bonus'}]}",
                "sendPacket      | {'greeting': 'hi'}",
                "createDraw      | {'showLeft': true}",
                "createCampaign  | {'claiming': {'total': 4}}",
                "createRain      | {'expectedUsers': 51}",
                "play            | {'plays': 1}",
                "openPool        | {'product': 'boot'}",
                "openPool        | {'group': 'another'}",
                "openPool        | {'metadata': {'order': '4711'}}",
                "raiseBudget     | {'amount': 1}",
                "reverseTransfer | {'reason': 'an error'}",
                "reverseTransfer | {'reference': 'order-2'}"
            })
    void anotherFieldUnderTheSameKeyIsRefused(String call, String change) throws Exception {
        // Given
        if (get(null, "/v1/assets/GOLD").statusCode() == 404) {
            declare("GOLD");
        }
        Wish wish = wish(call);
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = ask(wish, key);
        assertThat(first.statusCode()).as(first.body()).isBetween(200, 201);

        // When
        JsonObject fields = new JsonObject(change.replace('\'', '"'));
        JsonObject body = wish.body.copy();
        if (call.equals("depositMany")) {
            body.getJsonArray("deposits")
                    .getJsonObject(0)
                    .mergeIn(fields.getJsonArray("deposits").getJsonObject(0));
        } else {
            body.mergeIn(fields);
        }

        // Then
        Wish other = new Wish(wish.user, wish.path, body);
        assertProblem(ask(other, body.getString("group", group), key), 422, "idempotency-key-reused");
        assertThat(ask(wish, key).headers().firstValue(REPLAYED)).contains("true");
    }

    /** A copy with the fields in reverse order, at every depth. */
    private static @Nullable JsonObject backwards(@Nullable JsonObject object) {
        if (object == null) {
            return null;
        }
        List<String> names = new ArrayList<>(object.fieldNames());
        Collections.reverse(names);
        JsonObject other = new JsonObject();
        names.forEach(name -> other.put(
                name, object.getValue(name) instanceof JsonObject part ? backwards(part) : object.getValue(name)));
        return other;
    }

    private HttpResponse<String> ask(Wish wish, String key) throws Exception {
        return ask(wish, group, key);
    }

    private HttpResponse<String> ask(Wish wish, String inGroup, String key) throws Exception {
        var request = builder(wish.user, inGroup, wish.path).header("Idempotency-Key", key);
        return send(
                wish.body == null
                        ? request.POST(BodyPublishers.noBody())
                        : request.header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(wish.body.encode())));
    }

    /** Each time another one, of those who can pay. */
    private Wish wish(String call) throws Exception {
        String unique = UUID.randomUUID().toString();
        long amount = 100 + Math.abs(unique.hashCode() % 100_000L);
        String later = Instant.now().plusSeconds(3_600).toString();
        money("sender", "deposits", 1_000_000, unique, 201);
        money("shop", "deposits", 1_000_000, unique, 201);
        String sender = "/v1/accounts/" + name("sender");
        return switch (call) {
            case "deposit" -> new Wish(null, sender + "/deposits", cny(amount));
            case "withdraw" -> new Wish(null, sender + "/withdrawals", cny(amount));
            case "depositMany" ->
                new Wish(
                        null,
                        "/v1/deposits",
                        new JsonObject()
                                .put("deposits", new JsonArray().add(cny(amount).put("user", name("sender")))));
            case "reverseTransfer" ->
                new Wish(
                        null,
                        sender + "/transfers/"
                                + money("sender", "deposits", amount, unique + "x", 201)
                                        .getString("id") + "/reverse",
                        new JsonObject().put("reason", "a mistake"));
            case "sendPacket" -> new Wish("sender", "/v1/packets", packet("lucky", amount, 2));
            case "sendPacketForUser" ->
                new Wish(null, "/v1/users/" + name("sender") + "/packets", packet("lucky", amount, 2));
            case "createDraw" -> new Wish(null, "/v1/draws", draw(unique));
            case "play" ->
                new Wish(
                        "sender",
                        "/v1/draws/"
                                + json(post(null, "/v1/draws", unique, draw(unique)), 201)
                                        .getString("id") + "/plays",
                        new JsonObject().put("plays", 2));
            case "playForUser" ->
                new Wish(
                        null,
                        "/v1/users/" + name("sender") + "/plays",
                        new JsonObject()
                                .put(
                                        "draw",
                                        json(post(null, "/v1/draws", unique, draw(unique)), 201)
                                                .getString("id"))
                                .put("groups", new JsonArray().add(group)));
            case "createCampaign" -> new Wish(null, "/v1/campaigns", campaign(later, unique));
            case "openPool" ->
                new Wish(
                        "sender",
                        newCampaign(later, unique) + "/pools",
                        new JsonObject().put("product", unique).put("group", group));
            case "raiseBudget" ->
                new Wish(null, newCampaign(later, unique) + "/budget", new JsonObject().put("amount", amount));
            case "createRain" ->
                new Wish(
                        null,
                        "/v1/rains",
                        new JsonObject("{\"asset\": \"CNY\", \"budget\": 90, \"durationSeconds\": 2, \"drops\": 3,"
                                        + " \"sharesPerDrop\": 2, \"catchesPerUser\": 2}")
                                .put("name", unique)
                                .put("groups", new JsonArray().add(group))
                                .put("startsAt", later));
            case "revokeTokens" ->
                new Wish(null, "/v1/users/" + unique + "/revoke-tokens", new JsonObject().put("reason", unique));
            case "createWebhook" -> new Wish(null, "/v1/webhooks", webhook(unique));
            case "rotateWebhookSecret" -> new Wish(null, newWebhook(unique) + "/secrets", null);
            case "redeliverWebhook" -> new Wish(null, newWebhook(unique) + "/redeliver", new JsonObject());
            default -> throw new AssertionError("tell here how to ask for " + call);
        };
    }

    private JsonObject draw(String name) {
        return new JsonObject("{\"mode\": \"weights\", \"closesAt\": \"2035-01-01T00:00:00Z\","
                        + " \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}")
                .put("name", name)
                .put("group", group);
    }

    private static JsonObject campaign(String ends, String name) {
        return new JsonObject("{\"asset\": \"CNY\", \"budget\": 1000,"
                        + " \"pool\": {\"shares\": 2, \"amount\": 100, \"split\": \"equal\", \"livesSeconds\": 600}}")
                .put("name", name)
                .put("endsAt", ends);
    }

    private String newCampaign(String ends, String name) throws Exception {
        return "/v1/campaigns/"
                + json(post(null, "/v1/campaigns", name, campaign(ends, name)), 201)
                        .getString("id");
    }

    private static JsonObject webhook(String name) {
        return new JsonObject().put("url", "https://127.0.0.1:1/" + name);
    }

    private String newWebhook(String name) throws Exception {
        return "/v1/webhooks/"
                + json(post(null, "/v1/webhooks", name, webhook(name)), 201).getString("id");
    }
}
