package dev.hongbao.web.access;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.util.Queue;
import java.util.function.Function;

/**
 * One limit's buckets by key. A decision allocates nothing: all of them are made beforehand, one for each number of tokens
 * that can be left. Thread-safe.
 */
final class Buckets<K> {
    /** Decisions beyond this many tokens left are told as this many. */
    private static final int MAX_TOLD = 1_000;

    private final Limit limit;
    private final LoadingCache<K, Allowance> buckets;
    private final RateDecision[] allowed;
    private final RateDecision refused;

    /**
     * @param name the policy's name in the headers
     * @param maxKeys that are remembered
     * @param keyNames a key's name, the same on all servers
     * @param toTell gets those whose use other servers are to be told
     */
    Buckets(
            String name,
            Limit limit,
            int maxKeys,
            TimeMeter time,
            Function<K, String> keyNames,
            Queue<Allowance> toTell) {
        this.limit = limit;
        this.buckets = Caffeine.newBuilder()
                .maximumSize(maxKeys)
                .executor(Runnable::run)
                .build(key -> new Allowance(name + ":" + keyNames.apply(key), limit, time, toTell));
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

    /** Takes one token, or refuses. */
    RateDecision take(K key) {
        if (limit.isOff()) {
            return RateDecision.UNLIMITED;
        }
        Allowance allowance = buckets.get(key);
        if (!allowance.takeOne()) {
            long missing = 1 - allowance.left();
            return missing <= 1 ? refused : refused(limit.secondsFor(missing));
        }
        int left = (int) Math.min(allowance.left(), allowed.length - 1);
        return allowed[Math.max(0, left)];
    }

    private RateDecision refused(int waitSeconds) {
        return new RateDecision(false, refused.policy(), refused.state(), Math.max(1, waitSeconds));
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
        ConsumptionProbe probe = buckets.get(key).take(tokens);
        if (!probe.isConsumed()) {
            return refused((int) Math.ceil(probe.getNanosToWaitForRefill() / 1e9));
        }
        return allowed[(int) Math.min(probe.getRemainingTokens(), allowed.length - 1)];
    }

    /** Gives back a token that was taken. */
    void giveBack(K key) {
        if (!limit.isOff()) {
            buckets.get(key).giveBack();
        }
    }
}
