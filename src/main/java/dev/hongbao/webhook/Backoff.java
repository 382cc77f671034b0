package dev.hongbao.webhook;

import java.security.SecureRandom;
import java.time.Duration;

/** The pause after failed attempts: one second, doubled each time, less up to a half at random. */
final class Backoff {
    private static final long FIRST_MILLIS = 1_000;
    private static final int MOST_DOUBLINGS = 30;

    private final long mostMillis;
    private final SecureRandom random = new SecureRandom();

    /** @param most more than 0 */
    Backoff(Duration most) {
        this.mostMillis = most.toMillis();
    }

    /** @param failed attempts in a row, 1 or more */
    Duration after(int failed) {
        long doubled = FIRST_MILLIS << Math.min(failed - 1, MOST_DOUBLINGS);
        long whole = Math.min(doubled, mostMillis);
        return Duration.ofMillis(whole - random.nextLong(whole / 2 + 1));
    }
}
