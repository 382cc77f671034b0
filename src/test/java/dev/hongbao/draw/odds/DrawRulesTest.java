package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rules as numbers. */
class DrawRulesTest {
    private static final DrawRules.Periods NO_PERIODS = new DrawRules.Periods(0, 1, true);

    private static DrawRules.Prize prize(long chance) {
        return new DrawRules.Prize(chance, -1, 0, 0);
    }

    private static DrawRules rules(Mode mode, WhenExhausted then, DrawRules.Prize... prizes) {
        return new DrawRules(mode, then, List.of(prizes), 0, 0, 0, List.of(), NO_PERIODS);
    }

    private static DrawRules weights(DrawRules.Prize... prizes) {
        return rules(Mode.WEIGHTS, WhenExhausted.STOP, prizes);
    }

    @Test
    void chancesAddUpToAtLeastOneAndAtMostTheLargestBound() {
        assertThat(weights(prize(Chance.MAX_BOUND - 1), prize(1)).prizes()).hasSize(2);
        assertThat(weights(prize(1)).prize(1)).isEqualTo(prize(1));
        assertThatThrownBy(() -> weights(prize(Chance.MAX_BOUND), prize(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Long.toString(Chance.MAX_BOUND + 1));
        assertThatThrownBy(() -> weights(prize(0))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(DrawRulesTest::weights).isInstanceOf(IllegalArgumentException.class);
        assertThat(rules(Mode.SCHEDULE, WhenExhausted.STOP, prize(0)).mode()).isEqualTo(Mode.SCHEDULE);
    }

    @Test
    void thePrizesWithALimitPerUserAreKnown() {
        DrawRules.Prize limited = new DrawRules.Prize(1, -1, 1, 0);

        assertThat(weights(prize(1)).limitedPrizes()).isEmpty();
        assertThat(weights(prize(1), limited, prize(1), limited).limitedPrizes())
                .containsExactly(2, 4);
    }

    @ParameterizedTest
    @EnumSource
    void aRoundHasItsCountsAsFarAsTheStockAllows(WhenExhausted then) {
        DrawRules rules = rules(Mode.TABLE, then, prize(3), prize(5));
        boolean isOnce = then == WhenExhausted.STOP || then == WhenExhausted.FALLBACK;
        long[] full = {3, 5};
        long[] none = {0, 0};

        assertThat(rules.roundCounts(new long[] {3, -1}, 1)).containsExactly(full);
        assertThat(rules.roundCounts(new long[] {-1, 6}, 2)).containsExactly(isOnce ? none : full);
        assertThat(rules.roundCounts(new long[] {-1, 4}, 1))
                .containsExactly(then == WhenExhausted.RESCALE ? new long[] {3, 4} : none);
        assertThat(rules.roundCounts(new long[] {0, 0}, 1)).containsExactly(none);
    }
}
