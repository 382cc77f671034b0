package dev.hongbao.access;

import java.time.Duration;

/**
 * A token bucket's terms.
 *
 * @param perSecond how many calls come back each second, 0 to 1,000,000; 0 = no limit
 * @param burst how many calls may come at once, 1 to 1,000,000; not read when {@code perSecond} is 0
 */
public record Limit(double perSecond, int burst) {
    /** No limit. */
    public static final Limit OFF = new Limit(0, 1);

    public Limit {
        if (!(perSecond >= 0 && perSecond <= 1_000_000) || burst < 1 || burst > 1_000_000) {
            throw new IllegalArgumentException("a limit is 0 to 1,000,000 a second, with a burst of 1 to 1,000,000");
        }
    }

    /** {@code calls} in each {@code period}, all of them at once if one likes. */
    public static Limit of(int calls, Duration period) {
        return new Limit(calls * 1e9 / period.toNanos(), calls);
    }

    public boolean isOff() {
        return perSecond == 0;
    }

    /** Seconds, rounded up, in which {@code tokens} come back. */
    int secondsFor(long tokens) {
        return (int) Math.ceil(tokens / perSecond);
    }
}
