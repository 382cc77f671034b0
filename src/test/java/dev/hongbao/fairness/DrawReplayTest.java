package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A scheduled draw of four hours, with three of a prize an hour: who could win each, by the moments that the seed gives. */
class DrawReplayTest {
    private static final UUID DRAW = UUID.fromString("01939d1e-8c00-7000-8000-000000000001");
    private static final Instant OPENING = Instant.parse("2026-02-17T00:00:00Z");
    private static final Duration PERIOD = Duration.ofHours(1);
    private static final int FALLBACK = 2;

    private final Seed seed = new Seed(new byte[Seed.BYTES]);
    private final JsonArray quotas = new JsonArray();
    private final List<JsonObject> periods = new ArrayList<>();
    private final List<JsonObject> plays = new ArrayList<>();
    private final long[] won = new long[2];
    private DrawDefinition definition = definition("schedule: {periodSeconds: 3600}");
    private int loaded = 3;

    private static DrawDefinition definition(String more) {
        return TestDraws.definition("{mode: schedule, opensAt: \"" + OPENING + "\", closesAt: \""
                + OPENING.plus(PERIOD.multipliedBy(4))
                + "\", prizes: [{name: a, category: r, quota: 3, stock: 10, perUser: 2}], fallback: {name: f}, " + more
                + "}");
    }

    private static Instant hour(int hours) {
        return OPENING.plus(PERIOD.multipliedBy(hours));
    }

    /** When a prize is released. @param number from 1, of {@code quota} */
    private Instant moment(int period, int number, int quota) {
        return Instant.ofEpochMilli(
                seed.chance().moments(period, 1, hour(period), hour(period + 1), quota)[number - 1]);
    }

    private Instant moment(int period, int number) {
        return moment(period, number, 3);
    }

    /** The periods as they were planned: how many of the prize. */
    private DrawReplayTest planned(int... counts) {
        for (int period = 0; period < counts.length; period++) {
            periods.add(new JsonObject()
                    .put("draw", DRAW.toString())
                    .put("period", period)
                    .put("planned", new JsonArray().add(counts[period])));
        }
        return this;
    }

    private DrawReplayTest play(String user, int number, Instant at, Integer... release) {
        JsonObject line = new JsonObject()
                .put("draw", DRAW.toString())
                .put("seq", plays.size())
                .put("user", user)
                .put("number", number)
                .put("turn", new UUID(0, plays.size()).toString())
                .put("loaded", loaded)
                .put("at", at.toString());
        if (release.length > 0) {
            line.put("period", release[0]).put("release", release[1]);
        }
        plays.add(line);
        won[number - 1]++;
        return this;
    }

    private DrawReplay replay() {
        JsonObject view = TableReplayTest.view(DRAW, definition, won).put("quotas", quotas);
        DrawReplay replay = DrawReplay.of(StrictJson.FOREIGN.decode(view.encode()));
        if (periods.isEmpty()) {
            planned(3, 3, 3, 1);
        }
        periods.forEach(line -> replay.period(StrictJson.FOREIGN.decode(line.encode())));
        plays.forEach(line -> replay.play(StrictJson.FOREIGN.decode(line.encode())));
        replay.end();
        return replay;
    }

    private List<String> contradictions() {
        return replay().contradictions();
    }

    @Test
    void whoComesFirstAfterAMomentGetsIt() {
        play("ann", FALLBACK, moment(0, 1).minusMillis(1))
                .play("ann", 1, moment(0, 1), 0, 1)
                .play("ann", FALLBACK, moment(0, 1))
                .play("ann", 1, hour(2), 0, 2)
                .play("ann", FALLBACK, hour(2))
                .play("ben", 1, hour(2), 0, 3)
                .play("ben", 1, hour(2), 1, 1)
                .play("cy", 1, hour(3), 1, 2)
                .play("cy", 1, hour(3), 1, 3)
                .play("dan", 1, hour(3), 2, 1);

        assertThat(contradictions()).isEmpty();
        assertThat(replay().shown()).hasSize(3).last().asString().contains("first who could win it");
    }

    @Test
    void whatIsGivenToALaterPlayIsSeen() {
        play("ann", FALLBACK, moment(0, 1)).play("friend", 1, moment(0, 1).plusMillis(1), 0, 1);

        assertThat(contradictions())
                .first()
                .asString()
                .contains("play 0 of ann", "gave prize 2: the seed gives prize 1 by release 1 of period 0");
    }

    @Test
    void anotherThanTheNextIsSeen() {
        play("ann", 1, hour(1), 0, 2);

        assertThat(contradictions()).singleElement().asString().contains("which was not the next");
    }

    @Test
    void whatIsGivenTwiceOrEarlyOrIsNoneIsSeen() {
        loaded = 0;
        play("ann", 1, moment(0, 1), 0, 1)
                .play("ben", 1, moment(0, 1), 0, 1)
                .play("ben", 1, moment(0, 2).minusMillis(1), 0, 2)
                .play("cy", 1, moment(0, 1), 0, 4)
                .play("cy", 1, moment(0, 1), 9, 1)
                .play("dan", 1, moment(0, 1));

        assertThat(contradictions())
                .satisfiesExactly(
                        each -> assertThat(each).contains("play 1 of ben", "which was given before"),
                        each -> assertThat(each).contains("play 2 of ben", "which the seed releases at"),
                        each -> assertThat(each).contains("play 3 of cy", "which was not on the schedule"),
                        each -> assertThat(each).contains("play 4 of cy", "which was not on the schedule"),
                        each -> assertThat(each).contains("play 5 of dan", "gave prize 1: the seed gives prize 2"));
    }

    @Test
    void moreThanALimitAllowsIsSeen() {
        play("ann", 1, hour(4), 0, 1).play("ann", 1, hour(4), 0, 2).play("ann", 1, hour(4), 0, 3);

        assertThat(contradictions()).singleElement().asString().contains("play 2 of ann", "the seed gives prize 2");
    }

    @Test
    void aGuaranteeIsOwedOnTimeAndNotBefore() {
        definition = definition("schedule: {periodSeconds: 3600}, guarantees: [{category: r, plays: 3}]");
        Instant before = moment(0, 1).minusMillis(1);
        play("ann", FALLBACK, before).play("ann", FALLBACK, before).play("ann", 1, before, 0, 1);
        assertThat(contradictions()).isEmpty();

        play("ben", FALLBACK, before).play("ben", FALLBACK, before).play("ben", FALLBACK, before);
        play("cy", 1, before, 0, 3);
        assertThat(contradictions())
                .satisfiesExactly(
                        each -> assertThat(each).contains("play 5 of ben", "by release 2 of period 0"),
                        each -> assertThat(each).contains("play 6 of cy", "which the seed releases at"));
    }

    @Test
    void whatIsLoadedStaysLoadedForEverybody() {
        // Given a server that is late with the first period
        loaded = -1;
        play("ann", FALLBACK, hour(1));
        loaded = 1;
        play("ben", 1, hour(1), 0, 1);
        assertThat(contradictions()).isEmpty();
        assertThat(replay().shown()).last().asString().startsWith("1 plays were made before the period");

        // When it is not there for one of them
        loaded = 0;
        play("cy", FALLBACK, hour(1));
        loaded = 7;
        play("cy", FALLBACK, hour(1));

        // Then
        assertThat(contradictions())
                .satisfiesExactly(
                        each -> assertThat(each).contains("play 2 of cy", "up to period 0, a play before it up to 1"),
                        each -> assertThat(each).contains("play 3 of cy", "which was not planned"));
    }

    @Test
    void everyPeriodIsPlannedAsTheQuotaAndTheStockGive() {
        planned(3, 2, 3, 3);
        assertThat(contradictions())
                .satisfiesExactly(
                        each -> assertThat(each).isEqualTo("period 1 has 2 of prize 1, the quota and the stock give 3"),
                        each -> assertThat(each)
                                .isEqualTo("period 3 has 3 of prize 1, the quota and the stock give 2"));

        periods.clear();
        planned(3, 3);
        periods.remove(0);
        assertThat(contradictions()).containsExactly("period 0 was not planned");
    }

    @Test
    void whatDoesNotCarryOverGoesBackToTheStock() {
        definition = definition("schedule: {periodSeconds: 3600, carryOver: false}");
        play("ann", FALLBACK, hour(1)).play("ann", 1, moment(1, 1), 1, 1).play("ben", 1, moment(3, 2), 3, 1);
        planned(3, 3, 3, 2);
        assertThat(contradictions()).isEmpty();

        periods.clear();
        planned(3, 3, 3, 0);
        assertThat(contradictions()).contains("period 3 has 0 of prize 1, the quota and the stock give 1 to 3");

        periods.clear();
        planned(3, 3, 3, 2);
        play("ben", 1, moment(3, 2), 2, 3);
        assertThat(contradictions())
                .singleElement()
                .asString()
                .contains("play 3 of ben gave prize 1 by release 3 of period 2");
    }

    @Test
    void aChangedQuotaChangesTheMoments() {
        planned(3, 3, 4);
        loaded = 2;
        Instant at = hour(3);
        for (String user : List.of("ann", "ben", "cy")) {
            play(user, 1, at, plays.size() / 3, 1 + plays.size() % 3)
                    .play(user, 1, at, plays.size() / 3, 1 + plays.size() % 3);
        }
        play("dan", 1, moment(2, 1, 50), 2, 1);

        assertThat(contradictions()).isNotEmpty();
        quotas.add(new JsonObject().put("prize", 1).put("period", 2).put("quota", 50));
        assertThat(contradictions()).isEmpty();
    }

    @Test
    void periodsComeInOrderAndBeforeThePlays() {
        planned(3, 3);
        periods.add(periods.remove(0));
        assertThatThrownBy(this::replay)
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("period");

        periods.clear();
        periods.add(
                new JsonObject().put("draw", DRAW.toString()).put("period", 0).put("planned", new JsonArray().add(-1)));
        assertThatThrownBy(this::replay)
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("planned");
    }
}
