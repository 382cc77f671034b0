package dev.hongbao.access;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.hongbao.config.WebConfig.LimitsConfig;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import dev.hongbao.values.UserId;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.vertx.core.Future;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The limits on every user's calls; the host's backend has none. One instance for the whole server; thread-safe. Each server counts its
 * own calls: a caller who reaches N servers gets up to N limits.
 */
public final class RateLimits {
    private final Buckets<UserId> claims;
    private final Buckets<UserId> calls;
    private final Limit sharesLimit;
    private final Buckets<UserId> shares;
    private final Buckets<Guess> wrongPasscodes;

    private record Guess(UserId user, PacketId packet) {}

    /** @param time a monotonic clock: {@link TimeMeter#SYSTEM_NANOTIME} */
    public RateLimits(Settings settings, TimeMeter time) {
        int tracked = settings.trackedUsers();
        this.claims = new Buckets<>("claims", settings.claims(), tracked, time);
        this.calls = new Buckets<>("calls", settings.calls(), tracked, time);
        this.sharesLimit = settings.shares();
        this.shares = new Buckets<>("shares", sharesLimit, tracked, time);
        this.wrongPasscodes = new Buckets<>("wrong-passcodes", settings.wrongPasscodes(), tracked, time);
    }

    public RateDecision claim(Caller caller) {
        return caller.role() == Role.SERVICE ? RateDecision.UNLIMITED : claims.take(caller.user());
    }

    public RateDecision call(Caller caller) {
        return caller.role() == Role.SERVICE ? RateDecision.UNLIMITED : calls.take(caller.user());
    }

    /**
     * Counts a packet's shares; the call counts separately. More shares than one packet may have are not counted, because the
     * packet is refused anyway.
     *
     * @param count of the packet's shares, 1 or more
     */
    RateDecision send(Caller caller, int count) {
        return caller.role() == Role.SERVICE || count > sharesLimit.burst()
                ? RateDecision.UNLIMITED
                : shares.take(caller.user(), count);
    }

    /** As {@link #send}; fails with {@link TooManyCallsException} when they are too many. */
    public Future<Void> mayIssue(Caller caller, int shares) {
        RateDecision decision = send(caller, shares);
        if (decision.allowed()) {
            return Future.succeededFuture();
        }
        int wait = decision.retryAfterSeconds();
        return Future.failedFuture(new TooManyCallsException(Reason.SHARE, Text.of("rate.shares", wait), wait));
    }

    /** @throws TooManyCallsException for a refusal */
    public static void require(RateDecision decision) {
        int wait = decision.retryAfterSeconds();
        if (!decision.allowed()) {
            throw new TooManyCallsException(Reason.RATE, Text.of("rate.wait", wait), wait);
        }
    }

    /** Counts a claim's passcode, if it is not refused. @param passcode null for none */
    public PasscodeTry passcode(Caller caller, PacketId packet, @Nullable String passcode) {
        if (passcode == null) {
            return PasscodeTry.NONE;
        }
        Guess guess = new Guess(caller.user(), packet);
        return new PasscodeTry(wrongPasscodes.take(guess), () -> wrongPasscodes.giveBack(guess));
    }

    /**
     * One limit's token buckets by key. A decision allocates nothing: decisions are created in advance, one per number of remaining
     * tokens. Thread-safe.
     */
    private static final class Buckets<K> {
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

    /**
     * The limits of this server.
     *
     * @param claims of one user's claims
     * @param calls of one user's other calls
     * @param shares of the packets that one user sends; its burst is at least the largest packet's
     * @param wrongPasscodes of one user's wrong passcodes for one packet
     * @param trackedUsers users that each limit keeps; beyond that, the user idle longest starts with a full bucket
     */
    public record Settings(Limit claims, Limit calls, Limit shares, Limit wrongPasscodes, int trackedUsers) {
        private static final int TRACKED_USERS = 100_000;

        /** @param maxCount the most shares of a packet, which a user may send at once */
        public static Settings of(LimitsConfig config, int maxCount) {
            int shares = config.shares();
            int guesses = config.wrongPasscodesPerMinute();
            return new Settings(
                    perSecond(config.claims()),
                    perSecond(config.requests()),
                    shares == 0 ? Limit.OFF : new Limit(shares, Math.max(shares, maxCount)),
                    guesses == 0 ? Limit.OFF : Limit.of(guesses, Duration.ofMinutes(1)),
                    TRACKED_USERS);
        }

        /** Allows a burst of two seconds' calls, such as a double click. */
        private static Limit perSecond(int calls) {
            return calls == 0 ? Limit.OFF : new Limit(calls, calls * 2);
        }
    }

    /**
     * One claim's passcode attempt: counted before it is tried, so that concurrent guesses count too, and given back unless the
     * passcode was wrong.
     */
    public static final class PasscodeTry {
        /** Of a claim without one. */
        static final PasscodeTry NONE = new PasscodeTry(RateDecision.UNLIMITED, () -> {});

        private final RateDecision decision;
        private final Runnable giveBack;

        PasscodeTry(RateDecision decision, Runnable giveBack) {
            this.decision = decision;
            this.giveBack = giveBack;
        }

        public RateDecision decision() {
            return decision;
        }

        /** The refusal of a claim that exceeds the limit of passcode attempts. */
        public TooManyCallsException refusal() {
            int wait = decision.retryAfterSeconds();
            return new TooManyCallsException(Reason.PASSCODES, Text.of("passcode.wait", wait), wait);
        }

        /** The claim has ended; once. @param wrong whether its passcode was wrong; a claim that failed did not show it */
        public void ended(boolean wrong) {
            if (!wrong) {
                giveBack.run();
            }
        }
    }

    /**
     * A token bucket's terms.
     *
     * @param perSecond how many calls come back each second, 0 to 1,000,000; 0 = no limit
     * @param burst how many calls may come at once, 1 to 1,000,000; not read when {@code perSecond} is 0
     */
    public record Limit(double perSecond, int burst) {
        public static final Limit OFF = new Limit(0, 1);

        public Limit {
            if (!(perSecond >= 0 && perSecond <= 1_000_000) || burst < 1 || burst > 1_000_000) {
                throw new IllegalArgumentException(
                        "a limit is 0 to 1,000,000 a second, with a burst of 1 to 1,000,000");
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
}
