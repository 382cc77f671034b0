package dev.hongbao.web.access;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.TooManyCallsException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketId;
import io.github.bucket4j.TimeMeter;
import io.vertx.core.Future;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The limits on every user's calls. One instance for the whole server; thread-safe. Each server counts its own calls: a caller
 * who reaches N servers gets up to N limits.
 */
public final class RateLimits {
    private final Buckets<UserId> claims;
    private final Buckets<UserId> calls;
    private final Buckets<UserId> service;
    private final Limit sharesLimit;
    private final Buckets<UserId> shares;
    private final Buckets<Guess> wrongPasscodes;

    private record Guess(UserId user, PacketId packet) {}

    /** @param nanoTime a monotonic clock, nanoseconds: {@code System::nanoTime} */
    public RateLimits(RateLimitSettings settings, LongSupplier nanoTime) {
        TimeMeter time = new NanoMeter(nanoTime);
        int tracked = settings.trackedUsers();
        this.claims = new Buckets<>("claims", settings.claims(), tracked, time);
        this.calls = new Buckets<>("calls", settings.calls(), tracked, time);
        this.service = new Buckets<>("service", settings.service(), tracked, time);
        this.sharesLimit = settings.shares();
        this.shares = new Buckets<>("shares", sharesLimit, tracked, time);
        this.wrongPasscodes = new Buckets<>("wrong-passcodes", settings.wrongPasscodes(), tracked, time);
    }

    /** Counts a claim. */
    public RateDecision claim(Caller caller) {
        return (caller.role() == Role.SERVICE ? service : claims).take(caller.user());
    }

    /** Counts another call. */
    public RateDecision call(Caller caller) {
        return (caller.role() == Role.SERVICE ? service : calls).take(caller.user());
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

    /** Counts a claim's passcode, if it is not refused. @param passcode null for none */
    public PasscodeTry passcode(Caller caller, PacketId packet, @Nullable String passcode) {
        if (passcode == null) {
            return PasscodeTry.NONE;
        }
        Guess guess = new Guess(caller.user(), packet);
        return new PasscodeTry(wrongPasscodes.take(guess), () -> wrongPasscodes.giveBack(guess));
    }

    private record NanoMeter(LongSupplier nanoTime) implements TimeMeter {
        @Override
        public long currentTimeNanos() {
            return nanoTime.getAsLong();
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    }
}
