package dev.hongbao.web.ws;

/** How many frames one connection may send: so many a second, twice as many at once. */
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

    /** Counts a frame; false when it is one too many. */
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

    /** Whether it goes on regardless of being told. */
    boolean isHostile() {
        return excess > PATIENCE * perSecond;
    }

    /** Whether this is the first frame that was too many for a while: the one that is worth an answer. */
    boolean isNew() {
        return excess % perSecond == 1 || perSecond == 1;
    }
}
