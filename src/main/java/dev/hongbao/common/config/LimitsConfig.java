package dev.hongbao.common.config;

/** What one user may do; 0 is no limit. */
public record LimitsConfig(Rates rates, InFlight inFlight, WrongPasscodes wrongPasscodes) {
    /** What one user may do in a second. */
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
                    doc = "Shares of the packets that one user sends; as many as the largest packet has at once; 0 is"
                            + " no limit.")
            int shares) {}

    /** What may be under way at once. */
    public record InFlight(
            @ConfigOption(
                    path = "limits.calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "6",
                    doc = "Calls of one user under way at once, claims not counted; further ones get 429; 0 is no"
                            + " limit. Fewer than postgres.pool-size, so that nobody takes it all; as many as a browser"
                            + " sends.")
            int calls,

            @ConfigOption(
                    path = "limits.service-calls-in-flight",
                    range = "0 … 1000000 calls",
                    unset = "500",
                    fixed = true,
                    doc = "The same for a caller with the service role, which calls for all users.")
            int serviceCalls,

            @ConfigOption(
                    path = "limits.polls-in-flight",
                    range = "0 … 1000000 polls",
                    unset = "50",
                    fixed = true,
                    doc = "Polls of one caller that wait for events of groups at once; 0 is no limit.")
            int polls) {}

    /** How many wrong passcodes are taken. */
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
                    doc =
                            "Wrong passcodes of one packet an hour, of all users on all servers; beyond, each user has one"
                                    + " guess a minute; 0 is no limit.")
            int perPacket) {}
}
