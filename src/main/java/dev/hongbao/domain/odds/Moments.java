package dev.hongbao.domain.odds;

import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** When a period's prizes are released: scattered over it at random (article 4). */
public final class Moments {
    private Moments() {}

    /**
     * The moments of a prize in a period, which its draw's seed gives.
     *
     * @param period from 0
     * @param prize its number, from 1; no fallback
     * @param quota how many, where it was changed; null for what the definition says
     * @return in milliseconds, in order of time
     */
    public static long[] of(
            SeededChance chance, DrawDefinition definition, int period, int prize, @Nullable Long quota) {
        return of(
                chance,
                period,
                prize,
                definition.periodStart(period),
                definition.periodStart(period + 1),
                quota == null ? definition.quota(definition.prizes().get(prize - 1), period) : quota);
    }

    /**
     * The moments that a list of the seed gives: see {@link SeededChance#beginMoments}.
     *
     * @param from included
     * @param to excluded; less than 10^12 ms (31 years) after {@code from}, and if it is not after it, all are at {@code from}
     * @param count taken as 0 when it is less, and as {@link DefinitionChecks#MAX_RELEASES} when it is more
     * @return in milliseconds, in order of time
     */
    public static long[] of(SeededChance chance, int period, int prize, Instant from, Instant to, long count) {
        chance.beginMoments(period, prize);
        long start = from.toEpochMilli();
        return scatter(chance, start, Math.max(start + 1, to.toEpochMilli()), (int)
                Math.max(0, Math.min(count, DefinitionChecks.MAX_RELEASES)));
    }

    /**
     * Independent moments, each uniform over the period's milliseconds.
     *
     * @param fromMillis the period's start, included
     * @param toMillis its end, excluded; after {@code fromMillis}, by less than 10^12 ms (31 years)
     * @param count 0 or more
     * @return in order of time
     */
    public static long[] scatter(Chance chance, long fromMillis, long toMillis, int count) {
        long[] moments = new long[count];
        for (int i = 0; i < count; i++) {
            moments[i] = fromMillis + chance.below(toMillis - fromMillis);
        }
        Arrays.sort(moments);
        return moments;
    }
}
