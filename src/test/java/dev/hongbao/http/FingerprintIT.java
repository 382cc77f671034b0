package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** Every field of a command is part of it: the same key with another one is refused, and not answered as done. */
@ExtendWith(Servers.class)
class FingerprintIT extends TestServerClient {
    private static final String MONEY = "{asset: CNY, amount: 100, reference: order-1, reason: salary}";
    private static final String MANY =
            "{deposits: [{user: $sender, asset: CNY, amount: 100, reference: order-1, reason: salary}]}";
    private static final String PACKET =
            "{group: $group, kind: lucky, asset: CNY, amount: 1000, count: 2, min: 10, max: 990,"
                    + " split: double-mean, greeting: hello, passcode: open, opensAt: $later, expiresInSeconds: 3600}";
    private static final String EXCLUSIVE =
            "{group: $group, kind: exclusive, asset: CNY, amount: 1000, count: 2, recipients: [bob, carol]}";
    private static final String CAMPAIGN =
            "{name: n, asset: CNY, budget: 1000, opensAt: $later, endsAt: $evenLater, zone: UTC, pool: {shares: 2,"
                    + " amount: 100, split: double-mean, min: 10, max: 90, livesSeconds: 600}, opening: {onePerProduct:"
                    + " true}, claiming: {total: 3}}";
    private static final String RAIN =
            "{name: n, asset: CNY, budget: 900, groups: [$group], startsAt: $later, durationSeconds: 2, drops: 3,"
                    + " sharesPerDrop: 2, min: 10, max: 290, split: double-mean, catchesPerUser: 2, expectedUsers: 50}";
    private static final String DRAW = "{name: n, group: $group, opensAt: $later, closesAt: $evenLater, mode: table,"
            + " whenExhausted: stop, prizes: [{name: a, count: 3, perUser: 2}], limits: {total: 2}, showLeft: true}";

    private static final Map<String, String> BASES = Map.ofEntries(
            Map.entry("deposit", MONEY),
            Map.entry("withdraw", MONEY),
            Map.entry("depositMany", MANY),
            Map.entry("sendPacket", PACKET),
            Map.entry("exclusive", EXCLUSIVE),
            Map.entry("sendPacketForUser", PACKET.replace("{group", "{reference: order-1, reason: bonus, group")),
            Map.entry("createCampaign", CAMPAIGN),
            Map.entry("createRain", RAIN),
            Map.entry("createDraw", DRAW),
            Map.entry("play", "{plays: 1}"),
            Map.entry("openPool", "{product: shoe, group: $group}"),
            Map.entry("raiseBudget", "{amount: 10}"),
            Map.entry("reverseTransfer", "{reason: mistake, reference: order-1}"));

    private static final String CHANGES = """
        deposit | {asset: GOLD}
        deposit | {amount: 101}
        deposit | {reference: order-2}
        deposit | {reference: null}
        deposit | {reason: bonus}
        deposit | {reason: null}
        withdraw | {asset: GOLD}
        withdraw | {amount: 101}
        withdraw | {reference: order-2}
        withdraw | {reason: bonus}
        depositMany | {deposits: [{user: $other, asset: CNY, amount: 100, reference: order-1, reason: salary}]}
        depositMany | {deposits: [{user: $sender, asset: GOLD, amount: 100, reference: order-1, reason: salary}]}
        depositMany | {deposits: [{user: $sender, asset: CNY, amount: 101, reference: order-1, reason: salary}]}
        depositMany | {deposits: [{user: $sender, asset: CNY, amount: 100, reference: order-2, reason: salary}]}
        depositMany | {deposits: [{user: $sender, asset: CNY, amount: 100, reference: order-1, reason: bonus}]}
        sendPacket | {group: another}
        sendPacket | {kind: equal, min: null, max: null, split: null}
        sendPacket | {asset: GOLD}
        sendPacket | {amount: 1001}
        sendPacket | {count: 3}
        sendPacket | {min: 11}
        sendPacket | {max: 989}
        sendPacket | {split: even-luck}
        sendPacket | {greeting: hi}
        sendPacket | {metadata: {order: "4711"}}
        sendPacket | {passcode: sesame}
        sendPacket | {opensAt: $between}
        sendPacket | {expiresInSeconds: 3601}
        exclusive | {recipients: [bob, dave]}
        exclusive | {greeting: "null"}
        sendPacketForUser | {reference: order-2}
        sendPacketForUser | {reason: salary}
        sendPacketForUser | {amount: 1001}
        createCampaign | {name: m}
        createCampaign | {asset: GOLD}
        createCampaign | {budget: 1001}
        createCampaign | {opensAt: $between}
        createCampaign | {endsAt: $latest}
        createCampaign | {zone: Asia/Shanghai}
        createCampaign | {pool: {shares: 2, amount: 101, split: double-mean, min: 10, max: 90, livesSeconds: 600}}
        createCampaign | {opening: {onePerProduct: false}}
        createCampaign | {claiming: {total: 4}}
        createCampaign | {metadata: {order: "4711"}}
        createRain | {name: m}
        createRain | {asset: GOLD}
        createRain | {budget: 903}
        createRain | {groups: [another]}
        createRain | {startsAt: $between}
        createRain | {durationSeconds: 3}
        createRain | {drops: 4}
        createRain | {sharesPerDrop: 3}
        createRain | {min: 11}
        createRain | {max: 289}
        createRain | {split: even-luck}
        createRain | {catchesPerUser: 1}
        createRain | {expectedUsers: 51}
        createRain | {everyone: true, groups: null}
        createRain | {metadata: {order: "4711"}}
        createDraw | {name: m}
        createDraw | {group: another}
        createDraw | {opensAt: $between}
        createDraw | {closesAt: $latest}
        createDraw | {mode: weights, whenExhausted: null, prizes: [{name: a, weight: 1}]}
        createDraw | {whenExhausted: repeat}
        createDraw | {prizes: [{name: a, count: 3, perUser: 1}]}
        createDraw | {limits: {total: 3}}
        createDraw | {showLeft: false}
        createDraw | {whenExhausted: fallback, fallback: {name: f}}
        createDraw | {cost: {asset: CNY, amount: 1}}
        createDraw | {guarantees: [{category: r, plays: 2}], prizes: [{name: a, category: r, count: 3, perUser: 2}]}
        createDraw | {metadata: {order: "4711"}}
        createDraw | {allow: [bob]}
        createDraw | {deny: [bob]}
        play | {plays: 2}
        openPool | {product: boot}
        openPool | {group: another}
        openPool | {metadata: {order: "4711"}}
        raiseBudget | {amount: 11}
        reverseTransfer | {reason: error}
        reverseTransfer | {reference: order-2}
        """;

    private static Books books;

    private final Map<String, String> paths = new HashMap<>();

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
        books = new Books(given);
    }

    @AfterAll
    static void theBooksAddUp() {
        books.assertClean();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\u0001', textBlock = CHANGES)
    void anotherFieldUnderTheSameKeyIsRefused(String call, String change) throws Exception {
        // Given
        prepare();
        JsonObject first = body(BASES.get(call));
        String key = UUID.randomUUID().toString();
        HttpResponse<String> done = ask(call, "", key, first);
        assertThat(done.statusCode()).as(done.body()).isBetween(200, 201);

        // When
        JsonObject other = first.copy();
        body(change).forEach(field -> {
            if (field.getValue() == null) {
                other.remove(field.getKey());
            } else {
                other.put(field.getKey(), field.getValue());
            }
        });

        // Then
        assertProblem(ask(call, "", key, other), 422, "idempotency-key-reused");
        assertThat(ask(call, "", key, first).headers().firstValue("Idempotency-Replayed"))
                .contains("true");
    }

    @ParameterizedTest
    @ValueSource(strings = {"play", "openPool", "raiseBudget", "reverseTransfer"})
    void anotherSubjectUnderTheSameKeyIsRefused(String call) throws Exception {
        // Given
        prepare();
        JsonObject body = body(BASES.get(call));
        String key = UUID.randomUUID().toString();
        HttpResponse<String> done = ask(call, "", key, body);
        assertThat(done.statusCode()).as(done.body()).isBetween(200, 201);

        // When, then
        HttpResponse<String> other = ask(call, "another ", key, body);
        if (call.equals("play")) { // a key of a play is a draw's
            assertThat(other.headers().firstValue("Idempotency-Replayed")).isEmpty();
        } else {
            assertProblem(other, 422, "idempotency-key-reused");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sendPacket", "createCampaign", "createRain", "createDraw"})
    void theOrderOfTheFieldsIsNoPartOfACommand(String call) throws Exception {
        // Given
        prepare();
        JsonObject body = body(BASES.get(call));
        String key = UUID.randomUUID().toString();
        HttpResponse<String> done = ask(call, "", key, body);
        assertThat(done.statusCode()).as(done.body()).isBetween(200, 201);

        // When, then
        HttpResponse<String> again = ask(call, "", key, backwards(body));
        assertThat(again.headers().firstValue("Idempotency-Replayed")).contains("true");
    }

    /** The same object, with its fields and those of its objects in the other order. */
    private static JsonObject backwards(JsonObject object) {
        List<String> names = new ArrayList<>(object.fieldNames());
        Collections.reverse(names);
        JsonObject other = new JsonObject();
        names.forEach(name -> other.put(
                name, object.getValue(name) instanceof JsonObject part ? backwards(part) : object.getValue(name)));
        return other;
    }

    /** A field that is added to the contract is added above. */
    @ParameterizedTest
    @ValueSource(strings = {"Money", "Send", "CampaignDefinition", "RainDefinition", "DrawDefinition"})
    void everyFieldOfTheContractIsChangedAbove(String schema) {
        Map<String, String> calls = Map.of(
                "Money",
                "deposit",
                "Send",
                "sendPacket",
                "CampaignDefinition",
                "createCampaign",
                "RainDefinition",
                "createRain",
                "DrawDefinition",
                "createDraw");
        Map<String, Map<String, Map<String, Map<String, Object>>>> contract =
                new Yaml().load(FingerprintIT.class.getResourceAsStream("/openapi.yaml"));
        Map<String, Object> found = contract.get("components").get("schemas").get(schema);
        assertThat(found).as(schema).isNotNull();
        Set<String> fields = new HashSet<>(((Map<String, ?>) found.get("properties")).keySet());
        CHANGES.lines()
                .filter(line ->
                        line.startsWith(calls.get(schema)) || schema.equals("Send") && line.startsWith("exclusive"))
                .forEach(line -> fields.removeAll(((Map<?, ?>) new Yaml()
                                .load(line.substring(line.indexOf('|') + 1).replace("$", "")))
                        .keySet()));
        fields.removeAll(Set.of(
                "schedule",
                "token",
                "createdBy")); // with modes and tokens of their own; in the same text as the others
        assertThat(fields).isEmpty();
    }

    private JsonObject body(String yaml) {
        Instant now = Instant.now().truncatedTo(java.time.temporal.ChronoUnit.HOURS);
        String text = yaml.replace("$sender", name("sender"))
                .replace("$other", name("other"))
                .replace("$group", group)
                .replace("$between", "'" + now.plusSeconds(7_000) + "'")
                .replace("$later", "'" + now.plusSeconds(6_000) + "'")
                .replace("$evenLater", "'" + now.plusSeconds(20_000) + "'")
                .replace("$latest", "'" + now.plusSeconds(21_000) + "'");
        Map<String, Object> read = new Yaml().load(text);
        return new JsonObject(new JsonObject(read).encode());
    }

    private void prepare() throws Exception {
        if (!paths.isEmpty()) {
            return;
        }
        if (get(null, "/v1/assets/GOLD").statusCode() == 404) {
            declare("GOLD");
        }
        for (String asset : new String[] {"CNY", "GOLD"}) {
            deposit("sender", asset, 1_000_000);
            deposit("shop", asset, 1_000_000);
        }
        for (String which : new String[] {"", "another "}) {
            String later = Instant.now().plusSeconds(20_000).toString();
            String campaign = json(
                            post(
                                    null,
                                    "/v1/campaigns",
                                    UUID.randomUUID().toString(),
                                    new JsonObject("{\"asset\": \"CNY\", \"budget\": 1000, \"name\": \"n\", \"pool\":"
                                                    + " {\"shares\": 2, \"amount\": 100, \"split\": \"equal\","
                                                    + " \"livesSeconds\": 600}}")
                                            .put("endsAt", later)),
                            201)
                    .getString("id");
            String draw = json(
                            post(
                                    null,
                                    "/v1/draws",
                                    UUID.randomUUID().toString(),
                                    new JsonObject("{\"mode\": \"weights\", \"closesAt\": \"2035-01-01T00:00:00Z\","
                                                    + " \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}")
                                            .put("name", "n")),
                            201)
                    .getString("id");
            paths.put(which + "openPool", "/v1/campaigns/" + campaign + "/pools");
            paths.put(which + "raiseBudget", "/v1/campaigns/" + campaign + "/budget");
            paths.put(which + "play", "/v1/draws/" + draw + "/plays");
            paths.put(
                    which + "reverseTransfer",
                    "/v1/accounts/" + name("sender") + "/transfers/"
                            + money("sender", "deposits", 100, UUID.randomUUID().toString(), 201)
                                    .getString("id")
                            + "/reverse");
        }
    }

    private HttpResponse<String> ask(String call, String which, String key, JsonObject body) throws Exception {
        String account = "/v1/accounts/" + name("sender");
        String path = switch (call) {
            case "deposit" -> account + "/deposits";
            case "withdraw" -> account + "/withdrawals";
            case "depositMany" -> "/v1/deposits";
            case "sendPacket", "exclusive" -> "/v1/packets";
            case "sendPacketForUser" -> "/v1/users/" + name("sender") + "/packets";
            case "createCampaign" -> "/v1/campaigns";
            case "createRain" -> "/v1/rains";
            case "createDraw" -> "/v1/draws";
            default -> paths.get(which + call);
        };
        @Nullable
        String user = Set.of("sendPacket", "exclusive", "play", "openPool").contains(call) ? "sender" : null;
        return send(builder(user, body.getString("group", group), path)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body.encode())));
    }
}
