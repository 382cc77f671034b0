package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class VerifyCommandTest {
    private static final String COMMITMENT = "88c1cf52e0215cc7886264a9707ab3d0d8b81d07627432ef676963053a9965ff";

    @TempDir
    Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private final JsonObject packet;
    private final JsonObject claims;

    /** The first golden vector, drained, as the API tells it. */
    VerifyCommandTest() throws IOException {
        JsonObject vector = new JsonArray(Files.readString(Path.of("src/main/resources/webroot/fairness/packets.json")))
                .getJsonObject(0);
        JsonArray shares = (JsonArray) vector.remove("shares");
        JsonArray items = new JsonArray();
        for (int slot = 0; slot < shares.size(); slot++) {
            items.add(new JsonObject()
                    .put("packet", vector.getString("id"))
                    .put("user", "user-" + slot)
                    .put("slot", slot)
                    .put("amount", shares.getLong(slot))
                    .put("asset", "CNY")
                    .put("status", "settled"));
        }
        claims = new JsonObject().put("items", items).putNull("next").put("luckiest", items.getJsonObject(2));
        packet = vector.put("status", "drained")
                .put("greeting", "恭喜")
                .put("claimed", new JsonObject().put("count", 8).put("amount", 888))
                .put("luckiest", items.getJsonObject(2));
    }

    private int verify(String... arguments) {
        return new CommandLine(new VerifyCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
    }

    private String file(String text) throws IOException {
        return Files.writeString(dir.resolve("evidence-" + text.hashCode()), text)
                .toString();
    }

    @Test
    void whatTheSeedGivesIsAYes() throws IOException {
        int exit = verify(file(packet.encodePrettily() + claims.encode()), "--commitment", COMMITMENT);

        assertThat(exit).as(out + " " + err).isZero();
        assertThat(out.toString()).startsWith("yes  packet 01939d1e-8c00-7000-8000-000000000001: 888 CNY in 8 shares");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void pagesMayBeSeveralFilesOrStandardInput() throws IOException {
        // Given
        JsonArray items = claims.getJsonArray("items");
        JsonObject first = new JsonObject()
                .put("items", new JsonArray(items.getList().subList(0, 5)))
                .put("next", "4");
        JsonObject last = new JsonObject()
                .put("items", new JsonArray(items.getList().subList(5, 8)))
                .putNull("next");
        InputStream before = System.in;
        System.setIn(
                new ByteArrayInputStream((first.encode() + "\n" + last.encode()).getBytes(StandardCharsets.UTF_8)));

        // When
        int exit = verify(file(packet.encode()), "-");
        System.setIn(before);

        // Then
        assertThat(exit).as(out + " " + err).isZero();
        assertThat(verify(file(packet.encode()), file(first.encode()))).isEqualTo(2);
        assertThat(err.toString()).contains("pages are missing");
    }

    private static Arguments forgery(String name, BiConsumer<JsonObject, JsonArray> forgery) {
        return Arguments.of(name, forgery);
    }

    /** Nobody claims the last share, of 124. */
    private static void refund(JsonObject packet, JsonArray items) {
        items.remove(7);
        packet.put("status", "refunded").putNull("luckiest");
        packet.getJsonObject("claimed").put("count", 7).put("amount", 888 - 124);
    }

    static Stream<Arguments> forgeries() {
        String other = "01939d1e-8c00-7000-8000-000000000009";
        return Stream.of(
                forgery(
                        "the seed",
                        (packet, items) -> packet.put(
                                "seed", "ff" + packet.getString("seed").substring(2))),
                forgery("the commitment", (packet, items) -> packet.put("commitment", "0".repeat(64))),
                forgery("the id", (packet, items) -> {
                    packet.put("id", other);
                    items.forEach(item -> ((JsonObject) item).put("packet", other));
                }),
                forgery("the asset", (packet, items) -> {
                    packet.put("asset", "GOLD");
                    items.forEach(item -> ((JsonObject) item).put("asset", "GOLD"));
                }),
                forgery("min", (packet, items) -> packet.put("min", 2)),
                forgery("max", (packet, items) -> packet.put("max", 887)),
                forgery("the algorithm", (packet, items) -> packet.put("split", "inflate")),
                forgery("the amount", (packet, items) -> packet.put("amount", 889)),
                forgery("an amount", (packet, items) -> items.getJsonObject(3).put("amount", 59)),
                forgery("two amounts", (packet, items) -> {
                    long third = items.getJsonObject(3).getLong("amount");
                    items.getJsonObject(3).put("amount", items.getJsonObject(4).getLong("amount"));
                    items.getJsonObject(4).put("amount", third);
                }),
                forgery("a slot", (packet, items) -> items.getJsonObject(7).put("slot", 6)),
                forgery(
                        "a slot that is not there",
                        (packet, items) -> items.getJsonObject(7).put("slot", 8)),
                forgery("a user", (packet, items) -> items.getJsonObject(7).put("user", "user-0")),
                forgery("one claim more than shares", (packet, items) -> {
                    items.add(items.getJsonObject(7).copy().put("slot", 8).put("user", "mallory"));
                    packet.put("status", "refunded").putNull("luckiest");
                    packet.getJsonObject("claimed")
                            .put("count", 9)
                            .put("amount", 888 + items.getJsonObject(7).getLong("amount"));
                }),
                forgery("a slot that is passed over", (packet, items) -> {
                    refund(packet, items);
                    items.getJsonObject(6).put("slot", 7).put("amount", 124);
                    packet.getJsonObject("claimed").put("amount", 888 - 135);
                }),
                forgery("the count of a refunded packet", (packet, items) -> {
                    refund(packet, items);
                    packet.getJsonObject("claimed").put("count", 6);
                }),
                forgery("the luckiest of a refunded packet", (packet, items) -> {
                    refund(packet, items);
                    packet.put("luckiest", items.getJsonObject(2).copy());
                }),
                forgery("one claim less", (packet, items) -> items.remove(7)),
                forgery(
                        "the count of claims",
                        (packet, items) -> packet.getJsonObject("claimed").put("count", 7)),
                forgery(
                        "what was claimed",
                        (packet, items) -> packet.getJsonObject("claimed").put("amount", 887)),
                forgery("the status", (packet, items) -> packet.put("status", "refunded")),
                forgery(
                        "the luckiest",
                        (packet, items) ->
                                packet.put("luckiest", items.getJsonObject(1).copy())),
                forgery("no luckiest", (packet, items) -> packet.putNull("luckiest")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forgeries")
    void aForgeryIsAnsweredWithNo(String name, BiConsumer<JsonObject, JsonArray> forgery) throws IOException {
        // Given
        JsonObject forged = packet.copy();
        JsonObject page = claims.copy();
        forgery.accept(forged, page.getJsonArray("items"));

        // When
        int exit = verify(file(forged.encode() + page.encode()));

        // Then
        assertThat(exit).as(name + ": " + err).isEqualTo(1);
        assertThat(out.toString()).startsWith("NO   packet ");
        assertThat(out.toString().lines()).hasSizeGreaterThan(1);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void aRefundedPacketIsAYesAndAClaimOnAnotherPacketCannotBeTold() throws IOException {
        // Given
        JsonArray items = claims.getJsonArray("items");
        refund(packet, items);

        // Then
        assertThat(verify(file(packet.encode() + claims.encode())))
                .as(out + " " + err)
                .isZero();
        items.getJsonObject(0).put("packet", "01939d1e-8c00-7000-8000-000000000009");
        assertThat(verify(file(packet.encode() + claims.encode()))).isEqualTo(2);
        assertThat(err.toString()).contains("a claim on another packet");
    }

    @Test
    void anotherCommitmentThanTheOneThatWasToldIsANo() throws IOException {
        assertThat(verify(file(packet.encode() + claims.encode()), "--commitment", "A".repeat(64)))
                .isEqualTo(1);
        assertThat(out.toString()).contains("the commitment told before was AAAA");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        seed         | null                        | not closed
        seed         | "00"                        | #packet/seed
        seed         | 7                           | #packet/seed
        splitVersion | 2                           | knows no other
        splitVersion | "1"                         | whole number
        split        | "\\u001b[2J"                | ?[2J
        split        | null                        | #packet/split
        amount       | 8.88                        | whole number
        amount       | 100000000000000             | the total must be
        amount       | -1                          | the total must be
        count        | 4294967304                  | out of range
        count        | 0                           | number of shares
        count        | 1e9                         | whole number
        min          | 112                         | shares of at least
        max          | 889                         | at most the amount
        max          | 110                         | cannot hold
        id           | "../../etc/passwd"          | a UUID
        asset        | "cny"                       | an asset is
        commitment   | "88C1CF52E0215CC7886264A9707AB3D0D8B81D07627432EF676963053A9965FF" | not a commitment
        claimed      | 8                           | #packet/claimed must be an object
        claimed      | {"count":8}                 | #packet/claimed/amount
        luckiest     | "user-2"                    | #packet/luckiest
        status       | null                        | #packet/status
        """)
    void whatIsNoClosedPacketCannotBeTold(String field, String value, String reason) throws IOException {
        // Given
        JsonObject forged = packet.copy();
        forged.remove(field);
        String text = forged.encode();

        // When
        int exit = verify(
                file(text.substring(0, text.length() - 1) + ",\"" + field + "\":" + value + "}" + claims.encode()));
        int without = verify(file(text + claims.encode()));

        // Then
        assertThat(exit).as(out.toString()).isEqualTo(2);
        assertThat(without).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines().findFirst().orElseThrow())
                .startsWith("hongbao: cannot tell: ")
                .contains(reason)
                .doesNotContain("\u001b");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''                                   | there is no packet
        {}                                   | there is no page
        []                                   | must be a JSON object
        {"a":1,"a":2}                        | the same field twice
        {"items":                            | ends in the middle
        {"items":[]}                         | there is no packet
        {"items":[]}{"items":{}}x            | not JSON
        nonsense                             | not JSON
        {} {}                                | one packet, one draw or one rain, not two
        """)
    void whatIsNoEvidenceCannotBeTold(String text, String reason) throws IOException {
        assertThat(verify(file(text))).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("hongbao: cannot tell: ")
                .contains(reason)
                .hasLineCount(1);
    }

    @Test
    void aFileThatCannotBeReadAndATooDeepOneCannotBeTold() throws IOException {
        assertThat(verify(dir.resolve("missing").toString())).isEqualTo(2);
        assertThat(verify(dir.toString())).isEqualTo(2);
        assertThat(verify("\u0000")).isEqualTo(2);
        assertThat(verify(file("{\"a\":".repeat(100_000)))).isEqualTo(2);
        assertThat(verify(Files.write(dir.resolve("bytes"), new byte[] {'{', (byte) 0xff, '}'})
                        .toString()))
                .isEqualTo(2);
        assertThat(verify(file("{}"), "--commitment", "xyz")).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(6).doesNotContain("\tat ");
    }
}
