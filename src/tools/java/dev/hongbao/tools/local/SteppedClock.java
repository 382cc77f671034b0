package dev.hongbao.tools.local;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** The machine's clock, or what it would be if somebody had moved it. Thread-safe. */
final class SteppedClock extends Clock {
    private volatile long offsetMillis;

    /** From now on it is so much ahead, or behind. */
    void step(long millis) {
        offsetMillis = millis;
    }

    @Override
    public Instant instant() {
        return Instant.now().plusMillis(offsetMillis);
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("it is in UTC");
    }
}
