package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.TestDraws;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Numbers of a fixed seed, and the moments of scheduled prizes, computed by another program. When this test fails, draws that exist could
 * not be replayed any more: do not adapt the numbers.
 */
class SeedNumbersTest {
    private static final UUID TURN = UUID.fromString("01939d1e-8c00-8000-8000-000000000001");
    private static final Instant OPENING = Instant.EPOCH;
    private static final Duration HOUR = Duration.ofHours(1);

    /** Three hours and a half, of which the second and the last have three times as many. */
    private final DrawDefinition definition = TestDraws.definition(
            "{mode: schedule, opensAt: '1970-01-01T00:00:00Z', closesAt: '1970-01-01T03:30:00Z',"
                    + " schedule: {periodSeconds: 3600, boosts: [{from: '1970-01-01T01:00:00Z', to: '1970-01-01T02:00:00Z', times: 3},"
                    + " {from: '1970-01-01T02:00:01Z', to: '1970-01-01T09:00:00Z', times: 3}]},"
                    + " prizes: [{name: a, quota: 2, stock: 99}, {name: b, quota: 4, stock: 99}], fallback: {name: f}}");

    /** Of the seed 00 01 02 … 1f. */
    private final Seed.Numbers chance = new Seed.Numbers(seed());

    private static byte[] seed() {
        byte[] seed = new byte[32];
        for (int i = 0; i < seed.length; i++) {
            seed[i] = (byte) i;
        }
        return seed;
    }

    private long[] numbers(int count) {
        return LongStream.generate(chance::next).limit(count).toArray();
    }

    @Test
    void eachListHasItsOwnNumbersHoweverManyAreTakenOfAnother() {
        for (int round = 0; round < 2; round++) {
            chance.beginPlay(TURN, 0);
            assertThat(numbers(6))
                    .containsExactly(
                            1459775274115874L,
                            2352047509458780L,
                            765891207816530L,
                            1781268758348948L,
                            2924482586156677L,
                            3811844645357442L);
            chance.beginPlay(TURN, 9);
            assertThat(numbers(2)).containsExactly(1221956315122906L, 3266306324058954L);
            chance.beginMoments(3, 1);
            assertThat(numbers(2)).containsExactly(925738880119593L, 2881805834373169L);
        }
    }

    @Test
    void withoutAListThereIsNoNumber() {
        assertThatThrownBy(chance::next).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aSeedGivesTheMomentsOfAPrizeInAPeriod() {
        assertThat(chance.moments(3, 1, OPENING.plus(HOUR.multipliedBy(3)), OPENING.plus(HOUR.multipliedBy(4)), 6))
                .containsExactly(10_933_942, 12_559_200, 13_173_169, 13_255_856, 14_119_593, 14_261_409);
    }

    @Test
    void eachPrizeHasItsQuotaInEachPeriodUnlessItWasChanged() {
        int[][] quotas = {{2, 4}, {6, 12}, {2, 4}, {6, 12}};
        assertThat(definition.periods()).isEqualTo(quotas.length);
        for (int period = 0; period < quotas.length; period++) {
            for (int prize = 1; prize <= 2; prize++) {
                long[] moments = chance.moments(definition, period, prize, null);
                long from = HOUR.multipliedBy(period).toMillis();
                long to = period == 3 ? Duration.ofMinutes(210).toMillis() : from + HOUR.toMillis();
                assertThat(moments)
                        .as("prize %d in period %d", prize, period)
                        .hasSize(quotas[period][prize - 1])
                        .isSorted()
                        .containsExactly(chance.moments(
                                period, prize, Instant.ofEpochMilli(from), Instant.ofEpochMilli(to), moments.length));
                assertThat(moments[moments.length - 1]).isBetween(from, to - 1);
            }
        }
        assertThat(chance.moments(definition, 1, 1, 5L)).hasSize(5);
    }

    @Test
    void theEndIsExcludedAndACountOutOfRangeIsCut() {
        assertThat(chance.moments(0, 1, OPENING, OPENING.plusMillis(2), 200))
                .contains(0, 1)
                .doesNotContain(2);
        assertThat(chance.moments(0, 1, OPENING, OPENING, 3)).containsExactly(0, 0, 0);
        assertThat(chance.moments(0, 1, OPENING, OPENING.plus(HOUR), -1)).isEmpty();
        assertThat(chance.moments(0, 1, OPENING, OPENING.plus(HOUR), Long.MAX_VALUE))
                .hasSize(DrawDefinition.MAX_RELEASES);
    }
}
