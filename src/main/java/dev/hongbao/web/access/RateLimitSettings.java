package dev.hongbao.web.access;

import java.time.Duration;

/**
 * The limits of this server.
 *
 * @param claims of one user's claims
 * @param calls of one user's other calls
 * @param service of all calls with the service role
 * @param shares of the packets that one user sends; its burst is at least the largest packet's
 * @param wrongPasscodes of one user's wrong passcodes for one packet
 * @param trackedUsers users that each limit keeps; beyond that, the user idle longest starts with a full bucket
 */
public record RateLimitSettings(
        Limit claims, Limit calls, Limit service, Limit shares, Limit wrongPasscodes, int trackedUsers) {
    /** Far above a person's speed; a script gains little. */
    public static final RateLimitSettings DEFAULT = new RateLimitSettings(
            new Limit(20, 40),
            new Limit(50, 100),
            Limit.OFF,
            new Limit(1_000, 10_000),
            Limit.of(5, Duration.ofMinutes(1)),
            100_000);

    /** Nothing is limited. */
    public static final RateLimitSettings OFF =
            new RateLimitSettings(Limit.OFF, Limit.OFF, Limit.OFF, Limit.OFF, Limit.OFF, 1);
}
