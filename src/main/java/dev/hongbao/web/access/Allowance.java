package dev.hongbao.web.access;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What one key may still take of a limit on this server, and how much it took that other servers have not been told.
 * Thread-safe.
 *
 * <p>Nobody waits for other servers: what they used is taken from the bucket when it is heard of, and the bucket may then owe
 * tokens. Use is told as soon as it comes to a sixteenth of the burst; less than that, within the time in which the burst comes
 * back, is forgotten. So a caller who calls now and then costs the other servers nothing.
 */
final class Allowance {
    /** Use is told by this part of the burst. */
    private static final int TOLD_PARTS = 16;

    /** Of use over all servers that is remembered, in bursts: after two of them at once a caller waits for one to come back. */
    private static final int MOST_BURSTS = 2;

    private final String name;
    private final Limit limit;
    private final TimeMeter time;
    private final Queue<Allowance> toTell;
    private final Bucket bucket;
    private long untold;
    private long sinceNanos;
    private boolean isToBeTold;
    private long toBeToldNanos;
    private long longestNanos;

    /**
     * @param name the same on all servers
     * @param toTell gets this when it has something to tell; may be full
     */
    Allowance(String name, Limit limit, TimeMeter time, Queue<Allowance> toTell) {
        this.name = name;
        this.limit = limit;
        this.time = time;
        this.toTell = toTell;
        this.bucket = Bucket.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(limit.burst())
                        .refillGreedy(limit.burst(), Duration.ofNanos(burstNanos(limit)))
                        .build())
                .withCustomTimePrecision(time)
                .build();
    }

    private static long burstNanos(Limit limit) {
        return Math.max(1, (long) (limit.burst() / limit.perSecond() * 1e9));
    }

    /** Takes some tokens, all or none. */
    ConsumptionProbe take(int tokens) {
        ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(tokens);
        if (probe.isConsumed()) {
            count(tokens);
        }
        return probe;
    }

    /** Takes one token, without an object for the answer. */
    boolean takeOne() {
        boolean taken = bucket.tryConsume(1);
        if (taken) {
            count(1);
        }
        return taken;
    }

    /** Tokens that are left; negative when others' use is more than the limit allows. */
    long left() {
        return bucket.getAvailableTokens();
    }

    /** Gives back a token that was taken. */
    void giveBack() {
        bucket.addTokens(1);
        count(-1);
    }

    private synchronized void count(int tokens) {
        long now = time.currentTimeNanos();
        if (!isToBeTold && (untold == 0 || now - sinceNanos > burstNanos(limit))) {
            untold = 0;
            sinceNanos = now;
        }
        untold += tokens;
        if (!isToBeTold && Math.abs(untold) >= toldTokens()) {
            isToBeTold = toTell.offer(this);
            toBeToldNanos = now;
        }
    }

    private int toldTokens() {
        return Math.max(1, limit.burst() / TOLD_PARTS);
    }

    /** What is to be told now; null when it was given back meanwhile. */
    synchronized @Nullable RateUse tell() {
        long told = untold;
        untold = 0;
        isToBeTold = false;
        if (told == 0) {
            return null;
        }
        long usedHere = limit.burst() - left();
        long waitsSince = toBeToldNanos;
        return new RateUse(
                name,
                millis(told),
                millis((long) MOST_BURSTS * limit.burst()),
                usedByAll -> hear(usedByAll, usedByAll <= millis(told), usedHere, waitsSince));
    }

    private long millis(long tokens) {
        return (long) (tokens * 1_000 / limit.perSecond());
    }

    /**
     * Takes what others used. Tokens that were taken here come back from the moment they were taken; those that were told, from
     * the moment Redis heard of them. The difference is at most what is told at once and what comes back on the longest way
     * there, and no other server's use: so that a caller of one server gets all of its limit.
     *
     * @param isFirst whether all that was used before has come back
     */
    private synchronized void hear(long usedByAllMillis, boolean isFirst, long usedHere, long waitsSinceNanos) {
        long wayNanos = time.currentTimeNanos() - waitsSinceNanos;
        longestNanos = isFirst ? wayNanos : Math.max(longestNanos, wayNanos);
        double onTheWay = limit.perSecond() * longestNanos / 1e9;
        long others = (long) (limit.perSecond() * usedByAllMillis / 1_000 - usedHere - toldTokens() - onTheWay);
        if (others > 0) {
            bucket.consumeIgnoringRateLimits(others);
        }
    }
}
