package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.testing.TestDraws;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The vectors of draws, which a program that was written from the guide's page alone computed. They never change, see {@link FairnessVectorsTest}. */
class DrawVectorsTest {
    static Stream<JsonObject> vectors() throws IOException {
        String text = Files.readString(Path.of("src/main/resources/webroot/fairness/draws.json"));
        return new JsonArray(text).stream().map(JsonObject.class::cast);
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void aSeedGivesThePrizes(JsonObject vector) {
        // Given
        String mode = vector.getString("mode");
        JsonArray weights = vector.getJsonArray("weights");
        String prizes = IntStream.range(0, weights.size())
                .mapToObj(i -> "{name: p" + i + ", " + (mode.equals("table") ? "count" : "weight") + ": "
                        + weights.getLong(i) + "}")
                .collect(Collectors.joining(", "));
        Seed.Numbers chance = new Seed.Numbers(HexFormat.of().parseHex(vector.getString("seed")));
        DrawModel model = new DrawModel(
                TestDraws.definition("mode: " + mode + "\nprizes: [" + prizes + "]")
                        .openedAt(Instant.EPOCH)
                        .rules(),
                chance);

        // When and then
        for (Object each : vector.getJsonArray("plays")) {
            JsonObject play = (JsonObject) each;
            chance.beginPlay(UUID.fromString(play.getString("turn")), play.getInteger("play"));
            assertThat(model.play("user", 0, 0).prize()).as(play.encode()).isEqualTo(play.getInteger("prize"));
        }
    }
}
