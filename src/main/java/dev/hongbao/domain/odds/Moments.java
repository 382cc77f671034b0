package dev.hongbao.domain.odds;

import java.util.Arrays;

/** When a period's prizes are released: scattered over it at random (article 4). */
public final class Moments {
    private Moments() {}

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
