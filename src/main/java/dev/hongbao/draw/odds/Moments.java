package dev.hongbao.draw.odds;

import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The release moments of a period's prizes, scattered over it at random (article 4). */
public final class Moments {
    private Moments() {}

    /**
     * The moments of a prize in a period, given by its draw's seed.
     *
     * @param period from 0
     * @param prize its number, from 1; no fallback
     * @param quota the changed quota; null for the definition's
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
     * The moments of one of the seed's lists: see {@link SeededChance#beginMoments}.
     *
     * @param from included
     * @param to excluded; less than 10^12 ms (31 years) after {@code from}. If it is not after {@code from}, all moments are at {@code
     *     from}
     * @param count limited to 0 and {@link DefinitionChecks#MAX_RELEASES}
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
