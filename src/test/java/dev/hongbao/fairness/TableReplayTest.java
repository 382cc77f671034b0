package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A draw by weights, of which ten users played three times each in one request: what its export may not say. */
class TableReplayTest {
    private static final Instant AT = Instant.parse("2026-02-17T01:00:00.123Z");
    private static final String ANOTHER = "01939d1e-8c00-7000-8000-000000000009";

    private JsonObject view = new JsonObject();
    private final List<JsonObject> plays = new ArrayList<>();

    /** What the server tells of a closed draw with the seed of zeros. @param issued of each prize */
    static JsonObject view(UUID draw, DrawDefinition definition, long... issued) {
        Seed seed = new Seed(new byte[Seed.BYTES]);
        JsonArray table = new JsonArray();
        Arrays.stream(issued).forEach(count -> table.add(new JsonObject().put("issued", count)));
        return new JsonObject()
                .put("id", draw.toString())
                .put("mode", definition.mode().name().toLowerCase(Locale.ROOT))
                .put("seed", seed.hex())
                .put("commitment", seed.commitment(draw, definition))
                .put("definition", new JsonObject(Seed.definitionText(definition)))
                .put("finalTable", new JsonObject().put("prizes", table));
    }

    @BeforeEach
    void anHonestExport() {
        UUID draw = UUID.fromString("01939d1e-8c00-7000-8000-000000000001");
        DrawDefinition definition = TestDraws.definition(
                "{mode: weights, opensAt: '2026-02-17T00:00:00Z', closesAt: '2026-02-18T00:00:00Z', deny: [eve],"
                        + " prizes: [{name: a, weight: 1}, {name: b, weight: 2}, {name: c, weight: 3}]}");
        Seed.Numbers chance = new Seed(new byte[Seed.BYTES]).chance();
        DrawModel model = new DrawModel(definition.rules(), chance);
        long[] issued = new long[3];
        for (int i = 0; i < 30; i++) {
            UUID turn = new UUID(0, i / 3);
            chance.beginPlay(turn, i % 3);
            int number = model.play("user" + i / 3, 0, 0).prize();
            issued[number - 1]++;
            plays.add(new JsonObject()
                    .put("draw", draw.toString())
                    .put("seq", i)
                    .put("user", "user" + i / 3)
                    .put("number", number)
                    .put("turn", turn.toString())
                    .put("at", AT.toString()));
        }
        view = view(draw, definition, issued);
    }

    private List<String> contradictions() {
        DrawReplay replay = DrawReplay.of(StrictJson.FOREIGN.decode(view.encode()));
        plays.forEach(line -> replay.play(StrictJson.FOREIGN.decode(line.encode())));
        replay.end();
        return replay.contradictions();
    }

    private JsonObject ofTable(int prize) {
        return view.getJsonObject("finalTable").getJsonArray("prizes").getJsonObject(prize - 1);
    }

    /** Adds a play and counts it. */
    private void add(JsonObject play) {
        JsonObject counted = ofTable(play.getInteger("number"));
        counted.put("issued", counted.getLong("issued") + 1);
        plays.add(play.copy().put("seq", plays.size()));
    }

    @Test
    void whatTheSeedGivesIsRight() {
        assertThat(contradictions()).isEmpty();
        assertThat(plays.stream().map(play -> play.getInteger("number")).distinct())
                .hasSize(3);
    }

    /** The id of another turn: the same for all plays of one. */
    private static String another(JsonObject play) {
        return new UUID(1, UUID.fromString(play.getString("turn")).getLeastSignificantBits()).toString();
    }

    private static Arguments forgery(String seenAs, Consumer<TableReplayTest> forgery) {
        return Arguments.of(seenAs, forgery);
    }

    static List<Arguments> forgeries() {
        return List.of(
                forgery("play 0 of user0 gave prize", it -> {
                    JsonObject first = it.plays.get(0);
                    first.put("number", 1 + first.getInteger("number") % 3);
                }),
                forgery("gave prize", it -> it.plays.forEach(play -> play.put("turn", another(play)))),
                forgery(
                        "of eve is of a user who may not play",
                        it -> it.plays.stream().limit(3).forEach(play -> play.put("user", "eve"))),
                forgery("or was played before", it -> it.add(it.plays.get(0))),
                forgery("another user's", it -> it.plays.get(4).put("user", "mallory")),
                forgery(
                        "another user's",
                        it -> it.plays.get(4).put("at", AT.plusMillis(1).toString())),
                forgery(
                        "the final table issued",
                        it -> it.ofTable(1).put("issued", it.ofTable(1).getLong("issued") + 1)),
                forgery(
                        "the final table issued",
                        it -> it.ofTable(1).put("issued", it.ofTable(1).getLong("issued") - 1)),
                forgery("the seed and the definition give", it -> it.view.put("commitment", "0".repeat(64))),
                forgery("the seed and the definition give", it -> {
                    it.view.put("id", ANOTHER);
                    it.plays.forEach(play -> play.put("draw", ANOTHER));
                }),
                forgery(
                        "the seed and the definition give",
                        it -> it.view.getJsonObject("definition").put("deny", new JsonArray())));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forgeries")
    void aForgeryIsSeen(String seenAs, Consumer<TableReplayTest> forgery) {
        forgery.accept(this);
        assertThat(contradictions()).anySatisfy(each -> assertThat(each).contains(seenAs));
    }

    @Test
    void aPlayThatIsLeftOutOrOfAnotherDrawCannotBeJudged() {
        JsonObject removed = plays.remove(7);
        assertThatThrownBy(this::contradictions)
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("/seq");

        plays.add(7, removed.put("draw", ANOTHER));
        assertThatThrownBy(this::contradictions)
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("/draw");
    }

    @Test
    void nobodyReadsMoreThanAThousandContradictions() {
        for (int i = 0; i < 1_100; i++) {
            add(plays.get(3 * (i % 2)));
        }

        assertThat(contradictions()).hasSize(1_000);
    }
}
