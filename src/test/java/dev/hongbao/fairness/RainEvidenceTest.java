package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.Seed;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Sha256;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The golden vectors of rains, which the page's client holds too, and forgeries of them. When a vector fails, nobody can verify stored
 * rains any more: do not adapt the vectors, give the new way a new version.
 */
class RainEvidenceTest {
    private static final Path VECTORS = Path.of("src/main/resources/webroot/fairness/rains.json");

    static Stream<JsonObject> vectors() throws IOException {
        return new JsonArray(Files.readString(VECTORS)).stream().map(JsonObject.class::cast);
    }

    private static List<Long> moments(JsonObject vector) {
        return new Seed(HexFormat.of().parseHex(vector.getString("seed")))
                .moments(from(vector), to(vector), vector.getInteger("drops")).stream()
                        .map(Instant::toEpochMilli)
                        .toList();
    }

    private static Instant from(JsonObject vector) {
        return Instant.parse(vector.getString("startsAt"));
    }

    private static Instant to(JsonObject vector) {
        return Instant.parse(vector.getString("lastAt"));
    }

    /** A vector as the API tells a rain: of each drop that fell, one minor unit was caught. */
    private static JsonObject told(JsonObject vector) {
        int drops = vector.getInteger("drops");
        long budget = vector.getLong("budget");
        JsonArray fallen = new JsonArray();
        moments(vector).stream()
                .limit(vector.getInteger("fallen"))
                .forEach(moment -> fallen.add(new JsonObject()
                        .put("packet", new UUID(7, fallen.size()).toString())
                        .put("at", Instant.ofEpochMilli(moment).toString())
                        .put("amount", budget / drops + (fallen.size() < budget % drops ? 1 : 0))
                        .put("over", true)));
        return vector.copy()
                .put("name", "除夕")
                .put("status", "ended")
                .put("fallen", fallen)
                .put("caught", new JsonObject().put("count", fallen.size()).put("amount", fallen.size()))
                .put("returned", budget - fallen.size());
    }

    private static Evidence.Proof read(String text) throws IOException {
        return Evidence.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void aSeedGivesTheCommitmentAndTheMoments(JsonObject vector) throws Exception {
        // Given
        Seed seed = new Seed(HexFormat.of().parseHex(vector.getString("seed")));

        // Then
        assertThat(seed.commitment(
                        UUID.fromString(vector.getString("id")), from(vector), to(vector), vector.getInteger("drops")))
                .isEqualTo(vector.getString("commitment"));
        if (vector.containsKey("moments")) {
            assertThat(moments(vector))
                    .isEqualTo(vector.getJsonArray("moments").stream()
                            .map(moment -> ((Number) moment).longValue())
                            .toList());
        } else {
            String text = moments(vector).stream().map(String::valueOf).collect(Collectors.joining(","));
            assertThat(Sha256.hex(text)).isEqualTo(vector.getString("momentsDigest"));
        }
        Evidence.Proof proof = read(told(vector).encode());
        assertThat(proof.contradictions()).isEmpty();
        assertThat(proof.commitment()).isEqualTo(vector.getString("commitment"));
    }

    @Test
    void whatIsDigestedIsTheTextThatTheGuideShows() throws IOException {
        JsonObject vector = vectors().findFirst().orElseThrow();

        String text = new Seed(HexFormat.of().parseHex(vector.getString("seed")))
                .text(UUID.fromString(vector.getString("id")), from(vector), to(vector), vector.getInteger("drops"));

        assertThat(Files.readString(Path.of("src/site/markdown/fairness.md")))
                .contains(text)
                .contains(vector.getString("commitment"));
    }

    private static Arguments forgery(String name, Consumer<JsonObject> forge) {
        return Arguments.of(name, forge);
    }

    private static JsonObject drop(JsonObject rain, int n) {
        return rain.getJsonArray("fallen").getJsonObject(n);
    }

    private static void caught(JsonObject rain, long amount) {
        rain.getJsonObject("caught").put("amount", amount);
    }

    private static void move(JsonObject drop, Duration by) {
        drop.put("at", Instant.parse(drop.getString("at")).plus(by).toString());
    }

    static Stream<Arguments> forgeries() {
        return Stream.of(
                forgery("another seed", rain -> rain.put("seed", "00".repeat(32))),
                forgery("another commitment", rain -> rain.put("commitment", "00".repeat(32))),
                forgery("another rain", rain -> rain.put("id", new UUID(1, 1).toString())),
                forgery("another start", rain -> rain.put("startsAt", "2026-02-17T11:59:59Z")),
                forgery("another last moment", rain -> rain.put("lastAt", "2026-02-17T12:00:07Z")),
                forgery("a moment that was moved", rain -> move(drop(rain, 3), Duration.ofMillis(1))),
                forgery(
                        "a moment that was moved by a microsecond",
                        rain -> move(drop(rain, 3), Duration.ofNanos(1000))),
                forgery(
                        "a drop that is left out",
                        rain -> rain.getJsonArray("fallen").remove(7)),
                forgery(
                        "a drop in another's place",
                        rain -> rain.getJsonArray("fallen").getList().set(6, drop(rain, 7))),
                forgery(
                        "a drop twice",
                        rain -> rain.getJsonArray("fallen").add(drop(rain, 7).copy())),
                forgery("a drop less in all", rain -> {
                    rain.put("drops", 7);
                    rain.getJsonArray("fallen").remove(7);
                }),
                forgery("another budget", rain -> rain.put("budget", 880).put("returned", 872)),
                forgery("a larger drop", rain -> drop(rain, 0).put("amount", 112)),
                forgery("more returned", rain -> rain.put("returned", 888)),
                forgery("less caught", rain -> caught(rain, 7)),
                forgery("more caught than fell", rain -> {
                    rain.put("cancelledAt", "2026-02-17T12:00:00Z").put("fallen", new JsonArray());
                    caught(rain, 8);
                }),
                forgery("a drop that goes on", rain -> drop(rain, 7).put("over", false)),
                forgery("cancelled before the last one", rain -> rain.put("cancelledAt", "2026-02-17T12:00:04Z")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forgeries")
    void aForgeryIsContradicted(String name, Consumer<JsonObject> forge) throws IOException {
        // Given
        JsonObject rain = told(vectors().findFirst().orElseThrow());
        forge.accept(rain);

        // Then
        assertThat(read(rain.encode()).contradictions()).as(name).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        seed        | null                        | not closed
        seed        | "00"                        | #rain/seed
        commitment  | "x"                         | #rain/commitment
        id          | "x"                         | #rain/id
        startsAt    | "soon"                      | #rain/startsAt
        startsAt    | "2026-02-17T12:00:07.5Z"    | #rain/lastAt
        startsAt    | "2026-02-17T12:00:00.0001Z" | #rain/startsAt
        startsAt    | "1900-01-01T00:00:00Z"      | #rain/lastAt
        startsAt    | "-1000000000-01-01T00:00:00Z" | #rain/startsAt
        lastAt      | 7                           | #rain/lastAt
        drops       | 0                           | #rain/drops
        drops       | 2147483647                  | #rain/drops
        drops       | 8.5                         | #rain/drops
        budget      | 7                           | #rain/drops
        budget      | 100000000000000             | #rain/budget
        returned    | -1                          | #rain/returned
        caught      | null                        | #rain/caught
        caught      | {"amount": "8"}             | #rain/caught/amount
        cancelledAt | "never"                     | #rain/cancelledAt
        fallen      | null                        | #rain/fallen
        fallen      | [7]                         | #rain/fallen/0
        fallen      | [{"packet": "00000000-0000-0007-0000-000000000000", "at": "x", "amount": 1, "over": true}] | #rain/fallen/0/at
        fallen      | [{"packet": "00000000-0000-0007-0000-000000000000", "at": "2026-02-17T12:00:00Z", "amount": 1, "over": 1}] | #rain/fallen/0/over
        """)
    void whatIsNoRainThatIsOverCannotBeTold(String field, String value, String reason) throws IOException {
        JsonObject rain = told(vectors().findFirst().orElseThrow());
        rain.remove(field);
        String text = rain.encode();

        assertThatThrownBy(() -> read(text.substring(0, text.length() - 1) + ",\"" + field + "\":" + value + "}"))
                .isInstanceOf(InvalidInputException.class)
                .satisfies(thrown -> assertThat(((InvalidInputException) thrown).faults())
                        .singleElement()
                        .satisfies(fault -> assertThat(fault.pointer() + " " + fault.detail())
                                .contains(reason)));
        assertThatThrownBy(() -> read(text)).as("without %s", field).isInstanceOf(InvalidInputException.class);
    }

    @Test
    void aRainAndSomethingElseCannotBeTold() throws IOException {
        String rain = told(vectors().findFirst().orElseThrow()).encode();

        for (String text : List.of(rain + rain, rain + "{}", "{}" + rain, rain + "{\"items\":[]}")) {
            assertThatThrownBy(() -> read(text)).isInstanceOf(InvalidInputException.class);
        }
    }
}
