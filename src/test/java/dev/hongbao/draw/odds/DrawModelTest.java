package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.Simulation.ChiSquare;
import dev.hongbao.testing.TestDraws;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a draw promises, on the model that the script is tested against. */
class DrawModelTest {
    private static final DrawModel.Result EXHAUSTED = new DrawModel.Result(0, 1, null, DrawModel.Refused.EXHAUSTED);

    /** Repeatable numbers; the server's come from SecureRandom. */
    private static Chance seeded(long seed) {
        Random random = new Random(seed);
        return () -> random.nextLong() >>> 12;
    }

    private static DrawModel model(String yaml, Chance chance) {
        return new DrawModel(rules(yaml), chance);
    }

    private static DrawRules rules(String yaml) {
        DrawDefinition definition = TestDraws.definition(yaml);
        return definition.openedAt(Instant.EPOCH).rules();
    }

    private static long[] play(DrawModel model, int plays, int prizes) {
        long[] seen = new long[prizes];
        for (int i = 0; i < plays; i++) {
            DrawModel.Result result = model.play("user", 0, 0);
            assertThat(result.refused()).isNull();
            seen[result.prize() - 1]++;
        }
        return seen;
    }

    @Test
    void aBoundedNumberThrowsAwayTheIncompleteLastPart() {
        // Given numbers of which the first is beyond the last multiple of 3
        Deque<Long> numbers = new ArrayDeque<>(List.of(Chance.RANGE - 1, 5L));
        Chance chance = numbers::remove;

        // Then
        assertThat(Chance.RANGE % 3).isEqualTo(1);
        assertThat(chance.below(3)).isEqualTo(2);
        assertThat(numbers).isEmpty();
        assertThat(chance.below(1)).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyRoundOfARandomTableIsExact(long seed) {
        // Given
        Random random = new Random(seed);
        int prizes = 2 + random.nextInt(20);
        long[] counts = random.longs(prizes, 1, 60).toArray();
        StringBuilder yaml = new StringBuilder("mode: table\nwhenExhausted: repeat\nprizes:\n");
        for (int i = 0; i < prizes; i++) {
            yaml.append("  - {name: p")
                    .append(i)
                    .append(", count: ")
                    .append(counts[i])
                    .append("}\n");
        }
        DrawModel model = model(yaml.toString(), seeded(seed));

        // Then
        int round = (int) Arrays.stream(counts).sum();
        for (int i = 0; i < 3; i++) {
            assertThat(play(model, round, prizes))
                    .as("seed %d round %d", seed, i)
                    .isEqualTo(counts);
        }
    }

    @Test
    @Tag("statistics")
    void theOrderInARoundIsUniform() {
        // Given 20,000 rounds of one prize in five places
        long[] places = new long[5];
        Chance chance = seeded(11);
        DrawRules rules = rules("{mode: table, prizes: [{name: a, count: 1}, {name: b, count: 4}]}");
        for (int i = 0; i < 20_000; i++) {
            DrawModel model = new DrawModel(rules, chance);
            int place = 0;
            while (model.play("user", 0, 0).prize() != 1) {
                place++;
            }
            places[place]++;
        }

        // Then
        double[] expected = new double[5];
        Arrays.fill(expected, 4000);
        assertThat(ChiSquare.of(places, expected).isPlausible())
                .as(Arrays.toString(places))
                .isTrue();
    }

    @Test
    @Tag("statistics")
    void weightsAreExact() {
        // Given
        DrawModel model = model(
                "{mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 3}, {name: c, weight: 333},"
                        + " {name: d, weight: 999663}]}",
                seeded(21));

        // When
        int plays = 3_000_000;
        long[] seen = play(model, plays, 4);

        // Then
        double[] expected = {3, 9, 999, 2_998_989};
        assertThat(ChiSquare.of(seen, expected).isPlausible())
                .as(Arrays.toString(seen))
                .isTrue();
    }

    @Test
    void oneInABillionIsNotRounded() {
        // Given the only number of 10^9 that hits, and its neighbour
        Deque<Long> numbers = new ArrayDeque<>(List.of(0L, 1L, 999_999_999L, 1_000_000_000L));
        DrawModel model =
                model("{mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 999999999}]}", numbers::remove);

        // Then
        assertThat(List.of(1, 2, 3, 4).stream()
                        .map(i -> model.play("user", 0, 0).prize()))
                .containsExactly(1, 2, 2, 1);
    }

    @Test
    void aWeightedPrizeWithoutStockFallsToTheFallback() {
        DrawModel model = model(
                "{mode: weights, prizes: [{name: a, weight: 1, stock: 2}], fallback: {name: f, stock: 3}}", seeded(1));
        assertThat(play(model, 5, 2)).containsExactly(2, 3);
        assertThat(model.play("user", 0, 0)).isEqualTo(EXHAUSTED);
    }

    @Test
    void aRescaledRoundLeavesOutWhatIsGone() {
        // Given
        DrawModel model = model("""
            mode: table
            whenExhausted: rescale
            prizes: [{name: a, count: 2, stock: 3}, {name: b, count: 3}, {name: c, count: 5}]
            """, seeded(5));

        // Then
        assertThat(play(model, 10, 3)).containsExactly(2, 3, 5);
        assertThat(play(model, 9, 3)).containsExactly(1, 3, 5);
        assertThat(play(model, 8, 3)).containsExactly(0, 3, 5);
        assertThat(play(model, 8, 3)).containsExactly(0, 3, 5);
    }

    @Test
    void aRepeatedTableNeedsItsFullCounts() {
        DrawModel model = model("""
            mode: table
            whenExhausted: repeat
            prizes: [{name: a, count: 2, stock: 5}, {name: b, count: 3}]
            """, seeded(5));
        assertThat(play(model, 10, 2)).containsExactly(4, 6);
        assertThat(model.play("user", 0, 0).refused()).isEqualTo(DrawModel.Refused.EXHAUSTED);
    }

    @Test
    void aUserWithEnoughOfAPrizeDoesNotChangeTheRound() {
        // Given
        DrawModel model = model("""
            mode: table
            whenExhausted: fallback
            prizes: [{name: a, count: 3, perUser: 1}, {name: b, count: 3}]
            fallback: {name: f}
            """, seeded(3));

        // Then one user gets one a, all b, and the fallback; the others get the rest
        assertThat(play(model, 6, 3)).containsExactly(1, 3, 2);
        assertThat(model.play("second", 0, 0).prize()).isEqualTo(1);
        assertThat(model.play("third", 0, 0).prize()).isEqualTo(1);
        assertThat(model.play("fourth", 0, 0).prize()).isEqualTo(3);
    }

    @Test
    void daysAreCountedApart() {
        DrawModel model =
                model("{mode: weights, limits: {perDay: 1, zone: UTC}, prizes: [{name: a, weight: 1}]}", seeded(3));
        assertThat(model.play("user", 0, 100).prize()).isEqualTo(1);
        assertThat(model.play("user", 0, 100).refused()).isEqualTo(DrawModel.Refused.DAILY_LIMIT);
        assertThat(model.play("user", 0, 101).prize()).isEqualTo(1);
        assertThat(model.play("user", 0, 100).refused())
                .as("a clock that goes back")
                .isEqualTo(DrawModel.Refused.DAILY_LIMIT);
    }

    @Test
    void momentsAreUniformOverThePeriodAndInOrder() {
        // Given
        long[] moments = seeded(8).moments(3_600_000, 7_200_000, 60_000);

        // Then
        assertThat(moments).isSorted();
        assertThat(moments[0]).isGreaterThanOrEqualTo(3_600_000);
        assertThat(moments[moments.length - 1]).isLessThan(7_200_000);
        long[] minutes = new long[60];
        for (long moment : moments) {
            minutes[(int) ((moment - 3_600_000) / 60_000)]++;
        }
        double[] expected = new double[60];
        Arrays.fill(expected, 1000);
        assertThat(ChiSquare.of(minutes, expected).isPlausible()).isTrue();
    }

    @Test
    void aTableThatStopsIsPlayedOnceAndOneThatFallsBackGivesTheFallbackAfterIt() {
        DrawModel stops =
                model("{mode: table, prizes: [{name: a, count: 1, stock: 9}, {name: b, count: 2}]}", seeded(3));
        assertThat(play(stops, 3, 2)).containsExactly(1, 2);
        assertThat(stops.play("user", 0, 0)).isEqualTo(EXHAUSTED);
        DrawModel fallsBack = model(
                "{mode: table, whenExhausted: fallback, prizes: [{name: a, count: 1, stock: 9}, {name: b, count: 2}],"
                        + " fallback: {name: f}}",
                seeded(3));
        assertThat(play(fallsBack, 6, 3)).containsExactly(1, 2, 3);
    }

    @Test
    void aUserHasAsManyPlaysAsTheLimit() {
        DrawModel model = model("{mode: weights, limits: {total: 2}, prizes: [{name: a, weight: 1}]}", seeded(3));
        assertThat(play(model, 2, 1)).containsExactly(2);
        assertThat(model.play("user", 0, 0).refused()).isEqualTo(DrawModel.Refused.LIMIT);
        assertThat(model.play("another", 0, 0).prize()).isEqualTo(1);
    }

    @Test
    void theNthPlayWithoutAPrizeOfAClassGivesOneAndCountingBeginsAgain() {
        // Given numbers that hit the last prize each time
        DrawModel model = model(
                "{mode: weights, guarantees: [{category: r, plays: 3}, {category: s, plays: 5}], prizes: [{name: a,"
                        + " category: r, weight: 1}, {name: b, category: s, weight: 1}, {name: c, weight: 999}]}",
                () -> 500);

        // Then each class is counted for itself
        assertThat(IntStream.range(0, 12).map(i -> model.play("user", 0, 0).prize()))
                .containsExactly(3, 3, 1, 3, 2, 1, 3, 3, 1, 2, 3, 1);
    }

    private static DrawModel scheduled(String more) {
        return model(
                "{mode: schedule, schedule: {periodSeconds: 1" + more
                        + "}, prizes: [{name: a, category: r, quota: 1, stock: 99, perUser: 2}], fallback: {name: f}}",
                seeded(1));
    }

    private static DrawModel.Result won(DrawModel.@Nullable Release release) {
        return new DrawModel.Result(release == null ? 2 : release.prize(), 1, release, null);
    }

    @Test
    void aReleaseIsTakenFromItsMomentOnAndOfOneMomentInTheOrderOfTheScript() {
        // Given
        DrawModel model = scheduled("");
        DrawModel.Release ninth = new DrawModel.Release(0, 1, 9);
        DrawModel.Release tenth = new DrawModel.Release(0, 1, 10);
        model.release(ninth, 500);
        model.release(tenth, 500);

        // Then
        assertThat(model.play("ann", 499, 0)).isEqualTo(won(null));
        assertThat(model.play("ann", 500, 0)).isEqualTo(won(tenth));
        assertThat(model.has(tenth, 500)).isFalse();
        assertThat(model.has(ninth, 500)).isTrue();
        assertThat(model.play("ann", 9_000, 0)).as("carried over").isEqualTo(won(ninth));
        assertThat(model.released()).isZero();
        model.release(new DrawModel.Release(0, 1, 11), 600);
        assertThat(model.play("ann", 9_000, 0)).as("has two").isEqualTo(won(null));
    }

    @Test
    void whatDoesNotCarryOverIsGoneWithItsPeriod() {
        // Given
        DrawModel model = scheduled(", carryOver: false");
        DrawModel.Release second = new DrawModel.Release(1, 1, 1);
        model.release(new DrawModel.Release(0, 1, 1), 999);
        model.release(second, 1_000);

        // Then
        assertThat(model.play("ann", 1_000, 0)).isEqualTo(won(second));
        assertThat(model.play("ann", 1_999, 0)).isEqualTo(won(null));
        model.withdraw(999);
        assertThat(model.released()).isEqualTo(1);
        model.withdraw(1_000);
        assertThat(model.released()).isZero();
    }

    @Test
    void periodsAreCountedFromTheOpening() {
        // Given periods of a second from 300 ms on, and one prize at each side of the third one's beginning
        DrawDefinition definition =
                TestDraws.definition("{mode: schedule, schedule: {periodSeconds: 1, carryOver: false},"
                        + " prizes: [{name: a, quota: 1, stock: 99}], fallback: {name: f}}");
        DrawModel model =
                new DrawModel(definition.openedAt(Instant.ofEpochMilli(300)).rules(), seeded(1));
        DrawModel.Release third = new DrawModel.Release(2, 1, 1);
        model.release(new DrawModel.Release(1, 1, 1), 2_299);
        model.release(third, 2_300);

        // Then
        assertThat(model.play("ann", 2_400, 0)).isEqualTo(won(third));
        assertThat(model.play("ann", 2_400, 0)).isEqualTo(won(null));
        assertThat(model.released()).isEqualTo(1);
        assertThat(model.left(1)).isEqualTo(-1);
    }
}
