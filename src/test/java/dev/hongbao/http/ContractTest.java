package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hongbao.http.Contract.Operation;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketView;
import dev.hongbao.packet.PoolTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.UserId;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.OpenAPIContract;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContractTest {
    private static final Contract CONTRACT = Contract.load();
    private static final Schema SEND = Objects.requireNonNull(call("sendPacket").body());
    private static final Schema MONEY = Objects.requireNonNull(call("deposit").body());
    private static final String GOOD = "'group':'g','kind':'lucky','asset':'CNY','amount':100,'count':2";

    /** The console opens it with its first call, so that nothing else would show that it cannot be read. */
    @Test
    void theConsolesContractHasTheCallsOfTheApiAndItsOwnForServicesAlone() {
        List<Operation> calls = Contract.ofConsole().paths().stream()
                .flatMap(path -> path.operations().stream())
                .toList();

        assertThat(calls.stream().map(Operation::id)).contains("getSession", "replayQuarantined", "sendPacket");
        assertThat(calls).allMatch(call -> call.needs().service());
    }

    @Test
    void theDocumentIsAValidOpenapiContract() throws Exception {
        // Given the document without what Vert.x' reader cannot take: problem documents, and a server without a host
        JsonObject document = Contract.document();
        JsonObject copy = document.copy();
        copy.remove("servers");
        copy.getJsonObject("components").remove("responses");
        copy.getJsonObject("paths")
                .forEach(path -> ((JsonObject) path.getValue())
                        .forEach(call -> ((JsonObject) call.getValue())
                                .put(
                                        "responses",
                                        new JsonObject().put("200", new JsonObject().put("description", "left out")))));

        // When an independent reader checks it, then it is accepted, and has the same calls
        Vertx vertx = Vertx.vertx();
        try {
            OpenAPIContract read = OpenAPIContract.from(vertx, copy).await(30, TimeUnit.SECONDS);
            assertThat(read.operations().stream().map(operation -> operation.getOperationId()))
                    .containsExactlyInAnyOrderElementsOf(
                            CONTRACT.operations().stream().map(Operation::id).toList());
        } finally {
            vertx.close().await(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void theContractAndTheCodeKnowTheSameWords() {
        JsonObject schemas = Contract.document().getJsonObject("components").getJsonObject("schemas");

        assertThat(schemas.getJsonObject("UserId").getString("pattern")).isEqualTo("^" + UserId.PATTERN + "$");
        assertThat(schemas.getJsonObject("GroupId").getString("pattern")).isEqualTo("^" + UserId.PATTERN + "$");
        assertThat(schemas.getJsonObject("Asset").getString("pattern")).isEqualTo("^" + Asset.PATTERN + "$");
        assertThat(schemas.getJsonObject("Product").getString("pattern")).isEqualTo("^" + PoolTerms.PRODUCT + "$");
        assertThat(schemas.getJsonObject("Kind").getJsonArray("enum"))
                .isEqualTo(words(Arrays.stream(Packet.Kind.values())
                        .map(Packet.Kind::wireName)
                        .toList()));
        assertThat(schemas.getJsonObject("SplitName").getJsonArray("enum"))
                .isEqualTo(words(Arrays.stream(SplitAlgorithm.values())
                        .map(SplitAlgorithm::wireName)
                        .toList()));
        assertThat(schemas.getJsonObject("PacketStatus").getJsonArray("enum"))
                .isEqualTo(words(Arrays.stream(PacketView.Status.values())
                        .map(PacketView.Status::wireName)
                        .toList()));
    }

    /** As {@code Options.AUDIT_RETENTION} does. */
    @Test
    void ofRowsThatAreRemovedTheContractSaysWhen() {
        JsonObject paths = Contract.document().getJsonObject("paths");

        for (String path : List.of("/v1/audit", "/v1/restrictions")) {
            assertThat(paths.getJsonObject(path).getJsonObject("get").getString("description"))
                    .as(path)
                    .contains("removed after `audit.retention`")
                    .doesNotContain("for ever");
        }
    }

    @Test
    void everyExampleOfABodyFitsItsSchema() {
        JsonObject document = Contract.document();
        JsonObject examples = document.getJsonObject("paths")
                .getJsonObject("/v1/packets")
                .getJsonObject("post")
                .getJsonObject("requestBody")
                .getJsonObject("content")
                .getJsonObject("application/json")
                .getJsonObject("examples");

        assertThat(examples.fieldNames()).hasSizeGreaterThanOrEqualTo(3);
        for (String name : examples.fieldNames()) {
            JsonObject body = StrictJson.COMMAND.decode(
                    examples.getJsonObject(name).getJsonObject("value").encode());
            SEND.check(body, "#");
            assertThat(PacketBodies.send(body).kind().wireName()).isEqualTo(name);
        }
    }

    /** One of each kind; {@code SchemaVerdictTest} draws thousands of each field. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'user':'eve' | #/user",
                "'amount':'100' | #/amount",
                "'amount':0 | #/amount",
                "'amount':100000000000000 | #/amount",
                "'amount':null | #/amount",
                "'count':0 | #/count",
                "'count':100001 | #/count",
                "'asset':'cny' | #/asset",
                "'asset':'CNY\\n' | #/asset",
                "'asset':'COUPON-OF-17-SIGN' | #/asset",
                "'group':'' | #/group",
                "'group':'g\\n' | #/group",
                "'kind':'LUCKY' | #/kind",
                "'split':'java.util.Random' | #/split",
                "'min':0 | #/min",
                "'passcode':'' | #/passcode",
                "'passcode':' ' | #/passcode",
                "'greeting':'two\\nlines' | #/greeting",
                "'greeting':'\u202edrowkcab' | #/greeting",
                "'greeting':'un\u200bseen' | #/greeting",
                "'recipients':'bob' | #/recipients",
                "'recipients':['bob',7] | #/recipients/1",
                "'recipients':['bob','a b'] | #/recipients/1",
                "'recipients':['bob','bob'] | #/recipients/1",
                "'opensAt':'tomorrow' | #/opensAt",
                "'opensAt':'2026-02-30T00:00:00Z' | #/opensAt",
                "'expiresInSeconds':0 | #/expiresInSeconds",
                "'expiresInSeconds':31536001 | #/expiresInSeconds",
            })
    void aBadFieldIsRefusedByItsNameAndByNothingElse(String field, String pointer) {
        String name = field.substring(0, field.indexOf(':'));
        String rest = Arrays.stream(GOOD.split(","))
                .filter(good -> !good.startsWith(name + ":"))
                .collect(Collectors.joining(","));
        JsonObject body = StrictJson.COMMAND.decode(("{" + rest + "," + field + "}").replace('\'', '"'));

        assertThat(faults(body)).extracting(FieldFault::pointer).isNotEmpty().containsOnly(pointer);
    }

    @Test
    void whatIsWrittenWithJoinersIsAGreeting() {
        SEND.check(
                StrictJson.COMMAND.decode(("{" + GOOD + ",'greeting':'👩\u200d👧 می\u200cخواهم'}").replace('\'', '"')),
                "#");
    }

    @ParameterizedTest
    @CsvSource({"createCampaign", "createRain"})
    void aNameThatCannotBeReadIsRefused(String call) {
        Schema schema = Objects.requireNonNull(call(call).body());

        for (String name : List.of("\n", " ", "a\u202e", "\u2066")) {
            assertThatExceptionOfType(InvalidInputException.class)
                    .as(name)
                    .isThrownBy(() -> schema.check(new JsonObject().put("name", name), "#"))
                    .satisfies(refused -> assertThat(refused.faults())
                            .extracting(FieldFault::pointer)
                            .contains("#/name"));
        }
    }

    @Test
    void missingFieldsAreAllNamed() {
        assertThat(faults(new JsonObject()))
                .extracting(FieldFault::pointer)
                .containsExactlyInAnyOrder("#/group", "#/kind", "#/asset", "#/amount", "#/count");
        assertThatExceptionOfType(InvalidInputException.class).isThrownBy(() -> MONEY.check(new JsonObject(), "#"));
    }

    @Test
    void theLimitsThemselvesAreAllowed() {
        JsonArray recipients = new JsonArray(
                IntStream.range(0, 1000).mapToObj("%064d"::formatted).collect(Collectors.toList()));
        JsonObject body = new JsonObject()
                .put("group", "g".repeat(64))
                .put("kind", "exclusive")
                .put("asset", "COUPON-SHOES_16-")
                .put("amount", 99_999_999_999_999L)
                .put("count", 100_000)
                .put("greeting", "🧧".repeat(100))
                .put("passcode", "口".repeat(64))
                .put("recipients", recipients)
                .put("opensAt", "2026-02-17T08:00:00.123456+08:00")
                .put("expiresInSeconds", 604_800);

        SEND.check(body, "#");
        assertThat(PacketBodies.send(body).recipients()).hasSize(1000);
        assertThat(PacketBodies.send(body).opensAt()).isEqualTo("2026-02-17T00:00:00.123456Z");
        recipients.add("one-more");
        assertThat(faults(body)).extracting(FieldFault::pointer).containsOnly("#/recipients");
    }

    @Test
    void aPathIsMatchedAsItStands() {
        Contract.Path claims = CONTRACT.paths().get(0);

        assertThat(claims.allowed()).isEqualTo("GET, HEAD, POST");
        assertThat("/v1/packets/x/claims").matches(claims.regex());
        assertThat("/v1/packets//claims").matches(claims.regex());
        assertThat("/v1/packets/x/claims/").doesNotMatch(claims.regex());
        assertThat("/v1/packets/x/y/claims").doesNotMatch(claims.regex());
    }

    @Test
    void whatACallNeedsIsReadFromTheDocument() {
        // The claim is looked for first, and has a limit of its own
        assertThat(CONTRACT.operations().get(0).id()).isEqualTo("claim");
        assertThat(CONTRACT.operations())
                .filteredOn(call -> call.needs().rateLimit() == Operation.RateLimit.CLAIMS)
                .extracting(Operation::id)
                .containsExactly("claim");
        assertThat(CONTRACT.operations())
                .filteredOn(call -> call.needs().token() && !call.needs().service())
                .extracting(Operation::id)
                .as("the calls that users may make; all others need the role service; add a new one to this list")
                .containsExactlyInAnyOrder(
                        "claim",
                        "listClaims",
                        "getMyBalances",
                        "listMyTransfers",
                        "listMyClaims",
                        "listMyPackets",
                        "sendPacket",
                        "getPacket",
                        "getDraw",
                        "play",
                        "listPlays",
                        "getCampaign",
                        "openPool",
                        "getRain",
                        "listEvents",
                        "listGroupDraws",
                        "listCurrentRains",
                        "listAssets",
                        "getAsset",
                        "getMySummary");
        assertThat(CONTRACT.operations())
                .filteredOn(call -> !call.needs().token())
                .extracting(Operation::id)
                .containsExactlyInAnyOrder("getDemo", "loginToDemo");
        assertThat(CONTRACT.operations())
                .filteredOn(call -> call.needs().idempotencyKey())
                .extracting(Operation::id)
                .as("the calls with an idempotency key; add a new one to this list")
                .containsExactlyInAnyOrder(
                        "deposit",
                        "withdraw",
                        "sendPacket",
                        "sendPacketForUser",
                        "depositMany",
                        "createDraw",
                        "play",
                        "playForUser",
                        "createCampaign",
                        "createRain",
                        "openPool",
                        "raiseBudget",
                        "createWebhook",
                        "rotateWebhookSecret",
                        "redeliverWebhook",
                        "reverseTransfer",
                        "revokeTokens");
    }

    @ParameterizedTest
    @CsvSource({
        "claim, packet, 01939d1e-8c00-7000-8000-000000000001, true",
        "claim, packet, 01939D1E-8C00-7000-8000-000000000001, true",
        "claim, packet, 01939d1e8c00-7000-8000-0000-000000000001, false",
        "claim, packet, '', false",
        "getDraw, draw, 01939d1e-8c00-7000-8000-000000000001, true",
        "getDraw, draw, 01939d1e-8c00-7000-8000-00000000000g, false",
        "getUserBalances, user, alice, true",
        "getUserBalances, user, 'alice\n', false",
        "getUserBalances, user, 'a b', false",
    })
    void aParameterOfThePathIsChecked(String call, String name, String value, boolean fits) {
        Map<String, String> path = Map.of(name, value.replace("\\n", "\n"));

        if (fits) {
            assertThatCode(() -> call(call).checkPath(path)).doesNotThrowAnyException();
        } else {
            assertThatExceptionOfType(InvalidInputException.class)
                    .isThrownBy(() -> call(call).checkPath(path))
                    .satisfies(refused ->
                            assertThat(refused.faults().get(0).pointer()).isEqualTo("path/" + name));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "limit=0, query/limit",
        "limit=201, query/limit",
        "limit=1.0, query/limit",
        "limit=+1, query/limit",
        "limit=, query/limit",
        "limit, query/limit",
        "limit=99999999999999999999, query/limit",
        "limit=1&limit=2, query/limit",
        "cursor=, query/cursor",
        "cursor=%zz, query/cursor",
        "cursor=a%20b, query/cursor",
        "cursor=%00, query/cursor",
        "limt=3, query/limt",
        "&, query/",
    })
    void aBadQueryIsRefused(String query, String place) {
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(() -> call("listMyClaims").queryParameters(query))
                .satisfies(
                        refused -> assertThat(refused.faults().get(0).pointer()).isEqualTo(place));
    }

    /** Postgres refuses a text with U+0000, so no call lets one pass, whatever its pattern is. */
    @Test
    void noTextOfAPathOrQueryHoldsWhatPostgresCannotKeep() {
        // all calls of the API, and those of the console
        for (Operation call : Contract.ofConsole().operations()) {
            call.query()
                    .keySet()
                    .forEach(name -> assertThatExceptionOfType(InvalidInputException.class)
                            .as(call.id() + " " + name)
                            .isThrownBy(() -> call.queryParameters(name + "=a%00b")));
            if (!call.path().isEmpty()) {
                Map<String, String> path =
                        call.path().keySet().stream().collect(Collectors.toMap(name -> name, name -> "a\0b"));
                assertThatExceptionOfType(InvalidInputException.class)
                        .as(call.id())
                        .isThrownBy(() -> call.checkPath(path));
            }
        }
    }

    private static Operation call(String id) {
        return CONTRACT.operations().stream()
                .filter(call -> call.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static JsonArray words(List<String> words) {
        return new JsonArray(words);
    }

    private static List<FieldFault> faults(JsonObject body) {
        try {
            SEND.check(body, "#");
            PacketBodies.send(body);
            return List.of();
        } catch (InvalidInputException refused) {
            return refused.faults();
        }
    }
}
