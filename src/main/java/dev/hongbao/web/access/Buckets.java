package dev.hongbao.web.access;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;

/**
 * One limit's token buckets by key. A decision allocates nothing: decisions are created in advance, one per number of remaining
 * tokens. Thread-safe.
 */
final class Buckets<K> {
    /** Upper bound of the remaining tokens that a decision reports. */
    private static final int MAX_TOLD = 1_000;

    private final Limit limit;
    private final LoadingCache<K, Bucket> buckets;
    private final RateDecision[] allowed;
    private final RateDecision refused;

    /**
     * @param name the policy's name in the headers
     * @param maxKeys that are kept; an evicted key begins with a full bucket
     */
    Buckets(String name, Limit limit, int maxKeys, TimeMeter time) {
        this.limit = limit;
        this.buckets = Caffeine.newBuilder()
                .maximumSize(maxKeys)
                .executor(Runnable::run)
                .build(key -> bucket(limit, time));
        if (limit.isOff()) {
            this.allowed = new RateDecision[0];
            this.refused = RateDecision.UNLIMITED;
            return;
        }
        String policy = "\"" + name + "\";q=" + limit.burst() + ";w=" + limit.secondsFor(limit.burst());
        this.allowed = new RateDecision[Math.min(limit.burst(), MAX_TOLD)];
        for (int left = 0; left < allowed.length; left++) {
            String state = "\"" + name + "\";r=" + left + ";t=" + limit.secondsFor(limit.burst() - left);
            allowed[left] = new RateDecision(true, policy, state, 0);
        }
        int wait = Math.max(1, limit.secondsFor(1));
        this.refused = new RateDecision(false, policy, "\"" + name + "\";r=0;t=" + wait, wait);
    }

    private static Bucket bucket(Limit limit, TimeMeter time) {
        long burstNanos = Math.max(1, (long) (limit.burst() / limit.perSecond() * 1e9));
        return Bucket.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(limit.burst())
                        .refillGreedy(limit.burst(), Duration.ofNanos(burstNanos))
                        .build())
                .withCustomTimePrecision(time)
                .build();
    }

    /** Takes one token, or refuses. */
    RateDecision take(K key) {
        if (limit.isOff()) {
            return RateDecision.UNLIMITED;
        }
        Bucket bucket = buckets.get(key);
        return bucket.tryConsume(1)
                ? allowed[(int) Math.min(bucket.getAvailableTokens(), allowed.length - 1)]
                : refused;
    }

    /**
     * Takes some tokens, all or none.
     *
     * @param tokens 1 to the limit's burst
     */
    RateDecision take(K key, int tokens) {
        if (limit.isOff()) {
            return RateDecision.UNLIMITED;
        }
        ConsumptionProbe probe = buckets.get(key).tryConsumeAndReturnRemaining(tokens);
        if (!probe.isConsumed()) {
            int wait = (int) Math.max(1, Math.ceil(probe.getNanosToWaitForRefill() / 1e9));
            return new RateDecision(false, refused.policy(), refused.state(), wait);
        }
        return allowed[(int) Math.min(probe.getRemainingTokens(), allowed.length - 1)];
    }

    /** Gives back a token that was taken. */
    void giveBack(K key) {
        if (!limit.isOff()) {
            buckets.get(key).addTokens(1);
        }
    }
}
