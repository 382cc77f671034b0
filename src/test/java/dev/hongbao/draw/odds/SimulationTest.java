package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.draw.odds.DrawModel.Refused;
import dev.hongbao.draw.odds.Simulation.ChiSquare;
import dev.hongbao.draw.odds.Simulation.Outcome;
import dev.hongbao.draw.odds.Simulation.StockEnd;
import dev.hongbao.testing.TestDraws;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Draws that are played without servers, with numbers that are known: each play takes a second. */
class SimulationTest {
    private static final Instant OPENING = Instant.parse("2026-02-17T00:00:00Z");
    private static final double EXACT = 1e-9;

    private final List<Long> progress = new ArrayList<>();

    /** 0, 1, 2 … */
    private static Chance counting() {
        long[] next = {0};
        return () -> next[0]++;
    }

    private static Chance any() {
        Random random = new Random(5);
        return () -> random.nextLong() >>> 12;
    }

    private Outcome run(String yaml, Duration open, Chance chance, int users, long plays) {
        DrawDefinition definition = TestDraws.definition(
                "{opensAt: '" + OPENING + "', closesAt: '" + OPENING.plus(open) + "', " + yaml + "}");
        return new Simulation(definition, chance, users).run(plays, progress::add);
    }

    private Outcome run(String yaml, Chance chance, int users, long plays) {
        return run(yaml, Duration.ofSeconds(plays), chance, users, plays);
    }

    private static StockEnd end(int prize, long play) {
        return new StockEnd(prize, play, OPENING.plusSeconds(play - 1));
    }

    private static void assertPromised(Outcome outcome, double... promised) {
        assertThat(outcome.promised()).containsExactly(promised, within(EXACT));
    }

    @Test
    void aTableIsOverAfterItsLastPrize() {
        // When
        Outcome outcome = run("mode: table, prizes: [{name: a, count: 1}, {name: b, count: 3}]", any(), 2, 8);

        // Then
        assertThat(outcome.plays()).isEqualTo(4);
        assertThat(outcome.seen()).containsExactly(1, 3);
        assertThat(outcome.refused()).isEqualTo(Map.of(Refused.EXHAUSTED, 4L));
        assertPromised(outcome, 1, 3);
        assertThat(outcome.ends()).containsExactly(end(0, 4));
        assertThat(progress).containsExactly(8L);

        // And the curve goes up with every eighth of it
        long[] won = Arrays.stream(outcome.overTime())
                .mapToLong(step -> Arrays.stream(step).sum())
                .toArray();
        assertThat(won).hasSize(Simulation.STEPS);
        assertThat(List.of(won[0], won[24], won[25], won[49], won[50], won[74], won[75], won[199]))
                .containsExactly(1L, 1L, 2L, 2L, 3L, 3L, 4L, 4L);
    }

    @Test
    void aTableThatEndsWithTheLastPlayIsNotOverTooEarly() {
        Outcome outcome = run("mode: table, prizes: [{name: a, count: 1}, {name: b, count: 3}]", any(), 2, 4);

        assertThat(outcome.ends()).isEmpty();
        assertThat(outcome.refused()).isEmpty();
        assertThat(outcome.verdict()).isNotNull();
        assertThat(outcome.verdict().statistic()).isZero();
    }

    @Test
    void aTableThatFallsBackIsOverToo() {
        Outcome outcome = run(
                "mode: table, whenExhausted: fallback, prizes: [{name: a, count: 1}], fallback: {name: f}",
                any(),
                1,
                3);

        assertThat(outcome.seen()).containsExactly(1, 2);
        assertPromised(outcome, 1, 2);
        assertThat(outcome.ends()).containsExactly(end(0, 1));
    }

    @Test
    void aTableThatRepeatsPromisesPartsOfARound() {
        Outcome outcome = run(
                "mode: table, whenExhausted: repeat, prizes: [{name: a, count: 1}, {name: b, count: 3}]", any(), 1, 6);

        assertPromised(outcome, 1.5, 4.5);
        assertThat(outcome.ends()).isEmpty();
    }

    @Test
    void aRescaledTableGoesOnWithoutWhatIsGone() {
        // When a user is given one of each round, and a is gone after the first
        Outcome outcome = run(
                "mode: table, whenExhausted: rescale, prizes: [{name: a, count: 1, stock: 1}, {name: b, count: 1}]",
                () -> 0,
                1,
                4);

        // Then
        assertThat(outcome.seen()).containsExactly(1, 3);
        assertPromised(outcome, 1, 3);
        assertThat(outcome.ends()).containsExactly(end(1, 1));
    }

    @Test
    void whatAUserMayNotHaveDoesNotEndATable() {
        Outcome outcome = run("mode: table, prizes: [{name: a, count: 2, perUser: 1}]", any(), 1, 3);

        assertThat(outcome.seen()).containsExactly(1);
        assertThat(outcome.refused()).isEqualTo(Map.of(Refused.EXHAUSTED, 2L));
        assertThat(outcome.verdict()).isNull();
        assertThat(outcome.ends()).isEmpty();
    }

    @Test
    void oddsPromiseWhatTheStockAllowsAndTheRestToTheFallback() {
        // When every other play hits a, of which there are two
        Outcome outcome = run(
                "mode: weights, prizes: [{name: a, weight: 1, stock: 2}, {name: b, weight: 1}], fallback: {name: f}",
                counting(),
                7,
                100);

        // Then
        assertThat(outcome.seen()).containsExactly(2, 50, 48);
        assertPromised(outcome, 2, 50, 48);
        assertThat(outcome.ends()).containsExactly(end(1, 3));
        assertThat(outcome.verdict()).isEqualTo(new ChiSquare(0, 2));
    }

    @Test
    void aFallbackEndsWhenSomebodyIsRefused() {
        String odds = "mode: weights, prizes: [{name: a, weight: 1, stock: 1}], fallback: {name: f, stock: 2}";

        assertThat(run(odds, any(), 1, 5).ends()).containsExactly(end(1, 1), end(2, 3), end(0, 1));
        assertThat(run(odds, any(), 1, 3).ends()).containsExactly(end(1, 1), end(0, 1));
    }

    @Test
    void aStockThatTheOddsDoNotUseUpIsNoEndUnlessAGuaranteeMay() {
        // Given a prize that comes five times, and is promised once in a hundred plays
        String odds =
                "prizes: [{name: a, category: r, weight: 1, stock: 5}, {name: b, weight: 99}], fallback: {name: f}";

        assertThat(run("mode: weights, " + odds, () -> 0, 1, 100).ends()).isEmpty();
        assertThat(run("mode: weights, guarantees: [{category: r, plays: 200}], " + odds, () -> 0, 1, 100)
                        .ends())
                .containsExactly(end(1, 5));
    }

    @Test
    void aScheduleEndsWithTheLastRelease() {
        // When the first moment of each of two hours is that of its prizes, of which there are three
        Outcome outcome = run(
                "mode: schedule, schedule: {periodSeconds: 3600}, prizes: [{name: a, quota: 2, stock: 3}], fallback:"
                        + " {name: f}",
                Duration.ofHours(2),
                () -> 0,
                3,
                10);

        // Then
        assertThat(outcome.seen()).containsExactly(3, 7);
        assertPromised(outcome, 3, 7);
        assertThat(outcome.ends()).containsExactly(new StockEnd(1, 6, OPENING.plus(Duration.ofHours(1))));
        assertThat(outcome.verdict()).isNull();
    }

    @Test
    void aScheduleThatReleasesMoreThanIsPlayedPromisesNobodyTheFallback() {
        Outcome outcome = run(
                "mode: schedule, schedule: {periodSeconds: 3600}, prizes: [{name: a, quota: 9, stock: 9}], fallback:"
                        + " {name: f}",
                Duration.ofHours(1),
                () -> 0,
                3,
                4);

        assertThat(outcome.seen()).containsExactly(4, 0);
        assertPromised(outcome, 9, 0);
        assertThat(outcome.ends()).isEmpty();
    }

    @Test
    void usersTakeTurnsWithinTheirLimits() {
        Outcome total = run("mode: weights, limits: {total: 1}, prizes: [{name: a, weight: 1}]", any(), 2, 5);
        assertThat(total.seen()).containsExactly(2);
        assertThat(total.refused()).isEqualTo(Map.of(Refused.LIMIT, 3L));
        assertThat(total.ends()).isEmpty();

        Outcome daily = run(
                "mode: weights, limits: {perDay: 1, zone: UTC}, prizes: [{name: a, weight: 1}]",
                Duration.ofDays(2),
                any(),
                1,
                4);
        assertThat(daily.seen()).containsExactly(2);
        assertThat(daily.refused()).isEqualTo(Map.of(Refused.DAILY_LIMIT, 2L));
    }

    @Test
    void theProgressIsToldNowAndThen() {
        run("mode: weights, prizes: [{name: a, weight: 1}]", any(), 10, 25_000);

        assertThat(progress).containsExactly(10_000L, 20_000L, 25_000L);
    }
}
