package dev.hongbao.domain.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.json.StrictJson;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Moments;
import dev.hongbao.domain.odds.SeededChance;
import dev.hongbao.testing.TestDraws;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A scheduled draw: each release against the moment that the seed gives. */
class DrawReplayTest {
    private static final UUID DRAW = UUID.fromString("01939d1e-8c00-7000-8000-000000000001");
    private static final Instant OPENING = Instant.parse("2026-02-17T00:00:00Z");
    private static final Duration PERIOD = Duration.ofHours(1);

    private final DrawSeed seed = new DrawSeed(new byte[DrawSeed.BYTES]);
    private final List<JsonObject> plays = new ArrayList<>();
    private final long[] won = new long[2];

    private static DrawDefinition definition(String more) {
        return TestDraws.definition(
                "{mode: schedule, opensAt: \"" + OPENING + "\", closesAt: \"" + OPENING.plus(PERIOD.multipliedBy(4))
                        + "\", schedule: {periodSeconds: 3600}, prizes: [{name: a, quota: 3, stock: 90, perUser: 2}],"
                        + " fallback: {name: f}" + more + "}");
    }

    /** When a prize is released. @param number from 1, of {@code quota} */
    private Instant moment(int period, int number, int quota) {
        SeededChance chance = seed.chance();
        chance.beginMoments(period, 1);
        long from = OPENING.plus(PERIOD.multipliedBy(period)).toEpochMilli();
        return Instant.ofEpochMilli(Moments.scatter(chance, from, from + PERIOD.toMillis(), quota)[number - 1]);
    }

    private DrawReplayTest play(String user, int number, Instant at, Integer... release) {
        JsonObject line = new JsonObject()
                .put("draw", DRAW.toString())
                .put("seq", plays.size())
                .put("user", user)
                .put("number", number)
                .put("turn", new UUID(0, plays.size()).toString())
                .put("at", at.toString());
        if (release.length > 0) {
            line.put("period", release[0]).put("release", release[1]);
        }
        plays.add(line);
        won[number - 1]++;
        return this;
    }

    private List<String> contradictions(DrawDefinition definition, JsonArray quotas) {
        JsonArray table = new JsonArray();
        for (long issued : won) {
            table.add(new JsonObject().put("issued", issued));
        }
        JsonObject view = new JsonObject()
                .put("id", DRAW.toString())
                .put("mode", "schedule")
                .put("seed", seed.told())
                .put("commitment", seed.commitment(DRAW, definition))
                .put("definition", new JsonObject(DrawSeed.definitionText(definition)))
                .put("quotas", quotas)
                .put("final", new JsonObject().put("prizes", table));
        DrawReplay replay = DrawReplay.of(StrictJson.FOREIGN.decode(view.encode()));
        plays.forEach(line -> replay.play(StrictJson.FOREIGN.decode(line.encode())));
        replay.end();
        return replay.contradictions();
    }

    private List<String> contradictions() {
        return contradictions(definition(""), new JsonArray());
    }

    @Test
    void aReleaseTakenFromItsMomentOnIsRight() {
        play("ann", 2, OPENING)
                .play("ann", 1, moment(0, 1, 3), 0, 1)
                .play("ann", 1, moment(0, 2, 3).plusSeconds(9_000), 0, 2)
                .play("ben", 1, moment(1, 3, 3), 1, 3);

        assertThat(contradictions()).isEmpty();
    }

    @Test
    void oneTakenBeforeIsWrongUnlessItIsOwed() {
        play("ann", 1, moment(0, 1, 3).minusMillis(1), 0, 1);

        assertThat(contradictions()).singleElement().asString().contains("what the seed releases at");
        assertThat(contradictions(
                        TestDraws.definition("{mode: schedule, opensAt: \"" + OPENING + "\", closesAt: \""
                                + OPENING.plus(PERIOD) + "\", guarantees: [{class: r, plays: 3}],"
                                + " prizes: [{name: a, class: r, quota: 3, stock: 90}], fallback: {name: f}}"),
                        new JsonArray()))
                .isEmpty();
    }

    @Test
    void oneTakenTwiceOneThatIsNoneAndOneTooManyAreWrong() {
        Instant late = OPENING.plus(PERIOD.multipliedBy(3));
        play("ann", 1, late, 0, 1)
                .play("ben", 1, late, 0, 1)
                .play("ben", 1, late, 0, 4)
                .play("cy", 1, late)
                .play("ann", 1, late, 0, 2)
                .play("ann", 1, late, 0, 3)
                .play("dan", 1, late, 9, 1);

        assertThat(contradictions())
                .satisfiesExactly(
                        each -> assertThat(each).contains("play 1 of ben", "taken before"),
                        each -> assertThat(each).contains("play 2 of ben", "release 4 of 3"),
                        each -> assertThat(each).contains("play 3 of cy", "without a release"),
                        each -> assertThat(each).contains("play 5 of ann", "more than the limits"),
                        each -> assertThat(each).contains("play 6 of dan", "cannot be"));
    }

    @Test
    void aChangedQuotaChangesTheMoments() {
        JsonArray quotas = new JsonArray()
                .add(new JsonObject().put("prize", 1).put("period", 2).put("quota", 50));
        play("ann", 1, moment(2, 50, 50), 2, 50);

        assertThat(contradictions(definition(""), new JsonArray())).isNotEmpty();
        assertThat(contradictions(definition(""), quotas)).isEmpty();
    }
}
