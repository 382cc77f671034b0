package dev.hongbao.config;

/** Limits on one user; 0 is no limit. */
public record LimitsConfig(Rates rates, InFlight inFlight, WrongPasscodes wrongPasscodes) {
    /** Rates of one user. */
    public record Rates(
            @ConfigOption(
                    path = "limits.claims-per-second",
                    range = "0 … 1000000 claims a second",
                    unset = "20",
                    doc = "Claims of one user; 0 is no limit.")
            int claims,

            @ConfigOption(
                    path = "limits.requests-per-second",
                    range = "0 … 1000000 requests a second",
                    unset = "50",
                    doc = "Other requests of one user; 0 is no limit.")
            int requests,

            @ConfigOption(
                    path = "limits.shares-per-second",
                    range = "0 … 1000000 shares a second",
                    unset = "1000",
                    doc = "Shares of the packets that one user sends; a burst may have as many as the largest packet. 0"
                            + " is no limit.")
            int shares) {}

    /** Calls in flight. */
    public record InFlight(
            @ConfigOption(
                    path = "limits.calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "6",
                    doc = "The most calls of one user at once, without claims; further ones get 429. 0 is no limit."
                            + " Choose less than postgres.pool-size, so that one user cannot take the pool. A browser sends"
                            + " six at once.")
            int calls,

            @ConfigOption(
                    path = "limits.service-calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "500",
                    fixed = true,
                    doc = "The most calls at once of a caller with the service role, which calls for all users; 0 is no"
                            + " limit.")
            int serviceCalls,

            @ConfigOption(
                    path = "limits.polls-in-flight",
                    range = "0 … 1000000 polls",
                    unset = "50",
                    fixed = true,
                    doc = "The most polls of one caller that wait for events of groups at once; 0 is no limit.")
            int polls) {}

    /** Limits on wrong passcodes. */
    public record WrongPasscodes(
            @ConfigOption(
                    path = "limits.wrong-passcodes-per-minute",
                    range = "0 … 1000000 tries a minute",
                    unset = "5",
                    doc = "Wrong passcodes of one user for one packet; 0 is no limit.")
            int perMinute,

            @ConfigOption(
                    path = "limits.wrong-passcodes-per-packet",
                    range = "0 … 1000000 tries an hour",
                    unset = "100",
                    fixed = true,
                    doc = "Wrong passcodes for one packet an hour, of all users on all servers. Beyond, each user has"
                            + " one guess a minute. 0 is no limit.")
            int perPacket) {}
}
