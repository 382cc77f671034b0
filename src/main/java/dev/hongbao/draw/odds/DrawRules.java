package dev.hongbao.draw.odds;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import java.util.ArrayList;
import java.util.List;

/**
 * A draw's rules as numbers, also the input of {@code play.lua}. Prizes are numbered from 1. A fallback prize is the last, and has no
 * chance of its own. Immutable.
 *
 * @param prizes at least one
 * @param fallback the fallback prize's number; 0 for none
 * @param total the most plays of a user; 0 for no limit
 * @param perDay the most plays of a user in a day; 0 for no limit
 * @param guarantees 保底, in the order of their checks, each a number n of at least 1: the n-th play in a row without one of its prizes
 *     gives one, if one is left
 * @param periods schedules only
 */
public record DrawRules(
        Mode mode,
        WhenExhausted whenExhausted,
        List<Prize> prizes,
        int fallback,
        long total,
        long perDay,
        List<Integer> guarantees,
        Periods periods) {

    /**
     * One prize.
     *
     * @param chance its count in a round, or its weight; 0 for a fallback and in schedules
     * @param stock its total; -1 for no limit
     * @param perUser the most wins of one user; 0 for no limit
     * @param guarantee the number of the guarantee that it fulfils, from 1; 0 for none
     */
    public record Prize(long chance, long stock, int perUser, int guarantee) {}

    /**
     * The periods of a schedule.
     *
     * @param originMillis the start of the first period
     * @param lengthMillis of a period
     * @param carryOver whether releases of earlier periods can still be taken
     */
    public record Periods(long originMillis, long lengthMillis, boolean carryOver) {}

    public DrawRules {
        prizes = List.copyOf(prizes);
        guarantees = List.copyOf(guarantees);
        long sum = 0;
        for (Prize prize : prizes) {
            sum = Math.addExact(sum, prize.chance);
        }
        if (prizes.isEmpty() || sum > Chance.MAX_BOUND || (mode != Mode.SCHEDULE && sum < 1)) {
            throw new IllegalArgumentException("chances that add up to " + sum);
        }
    }

    /** The prize with a number. */
    public Prize prize(int number) {
        return prizes.get(number - 1);
    }

    /** The numbers of the prizes with a limit per user, in the order of a user's counters. */
    public List<Integer> limitedPrizes() {
        List<Integer> limited = new ArrayList<>();
        for (int number = 1; number <= prizes.size(); number++) {
            if (prize(number).perUser > 0) {
                limited.add(number);
            }
        }
        return limited;
    }

    /**
     * The counts of a round that starts with these stocks.
     *
     * @param stock by prize, -1 for no limit
     * @param round from 1
     * @return by prize; all 0 when no further round can start
     */
    public long[] roundCounts(long[] stock, long round) {
        long[] counts = new long[prizes.size()];
        if (round > 1 && (whenExhausted == WhenExhausted.STOP || whenExhausted == WhenExhausted.FALLBACK)) {
            return counts;
        }
        for (int i = 0; i < counts.length; i++) {
            long full = prizes.get(i).chance;
            counts[i] = stock[i] < 0 ? full : Math.min(full, stock[i]);
            if (counts[i] < full && whenExhausted != WhenExhausted.RESCALE) {
                return new long[prizes.size()];
            }
        }
        return counts;
    }
}
