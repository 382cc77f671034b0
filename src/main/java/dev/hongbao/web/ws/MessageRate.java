package dev.hongbao.web.ws;

/** Limits one connection's frames: a rate per second, with bursts of twice that. */
final class MessageRate {
    private static final double NANOS = 1e9;

    /** Seconds of the allowed rate that may be exceeded before the connection is hostile. */
    private static final int PATIENCE = 5;

    private final int perSecond;
    private double tokens;
    private long sinceNanos;
    private int excess;

    MessageRate(int perSecond, long nowNanos) {
        this.perSecond = perSecond;
        this.tokens = 2.0 * perSecond;
        this.sinceNanos = nowNanos;
    }

    /** Counts a frame; false if it exceeds the rate. */
    boolean allows(long nowNanos) {
        tokens = Math.min(2.0 * perSecond, tokens + (nowNanos - sinceNanos) / NANOS * perSecond);
        sinceNanos = nowNanos;
        if (tokens < 1) {
            excess++;
            return false;
        }
        tokens--;
        if (tokens > perSecond) {
            excess = 0;
        }
        return true;
    }

    /** Whether the client ignores the refusals. */
    boolean isHostile() {
        return excess > PATIENCE * perSecond;
    }

    /** Whether to answer this excess frame; only the first of a while is answered. */
    boolean isNew() {
        return excess % perSecond == 1 || perSecond == 1;
    }
}
