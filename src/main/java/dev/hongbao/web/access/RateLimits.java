package dev.hongbao.web.access;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketId;
import io.github.bucket4j.TimeMeter;
import java.util.function.LongSupplier;

/** The limits on every user's calls. One instance for the whole server; safe on any thread. */
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
     * Counts a send by its shares, besides as a call. More than may be sent at once are not counted: no packet may be as large,
     * so it is refused for that.
     *
     * @param count of the packet's shares, 1 or more
     */
    public RateDecision send(Caller caller, int count) {
        return caller.role() == Role.SERVICE || count > sharesLimit.burst()
                ? RateDecision.UNLIMITED
                : shares.take(caller.user(), count);
    }

    /**
     * Counts a passcode before it is tried, so that a thousand guesses sent at once are counted too. Give it back with
     * {@link #passcodeWasRight} unless it was wrong.
     */
    public RateDecision passcode(Caller caller, PacketId packet) {
        return wrongPasscodes.take(new Guess(caller.user(), packet));
    }

    /** The passcode of {@link #passcode} was not wrong, or not looked at. */
    public void passcodeWasRight(Caller caller, PacketId packet) {
        wrongPasscodes.giveBack(new Guess(caller.user(), packet));
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
