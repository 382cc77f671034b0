package dev.hongbao.common.config;

/**
 * What one user may do; 0 is no limit.
 *
 * @param claimsPerSecond claims
 * @param requestsPerSecond every other request
 * @param sharesPerSecond shares of the packets that are sent
 * @param callsInFlight calls under way at once, claims not counted
 * @param serviceCallsInFlight the same for a caller with the service role
 * @param pollsInFlight polls that wait at once
 * @param wrongPasscodesPerMinute wrong passcodes, over all packets
 * @param wrongPasscodesPerPacket wrong passcodes of one packet in an hour, over all users
 */
public record LimitsConfig(
        int claimsPerSecond,
        int requestsPerSecond,
        int sharesPerSecond,
        int callsInFlight,
        int serviceCallsInFlight,
        int pollsInFlight,
        int wrongPasscodesPerMinute,
        int wrongPasscodesPerPacket) {
    public LimitsConfig {
        Options.LIMITS_CLAIMS_PER_SECOND.require(claimsPerSecond);
        Options.LIMITS_REQUESTS_PER_SECOND.require(requestsPerSecond);
        Options.LIMITS_SHARES_PER_SECOND.require(sharesPerSecond);
        Options.LIMITS_CALLS_IN_FLIGHT.require(callsInFlight);
        Options.LIMITS_SERVICE_CALLS_IN_FLIGHT.require(serviceCallsInFlight);
        Options.LIMITS_POLLS_IN_FLIGHT.require(pollsInFlight);
        Options.LIMITS_WRONG_PASSCODES_PER_MINUTE.require(wrongPasscodesPerMinute);
        Options.LIMITS_WRONG_PASSCODES_PER_PACKET.require(wrongPasscodesPerPacket);
    }

    static LimitsConfig from(OptionValues values) {
        return new LimitsConfig(
                values.get(Options.LIMITS_CLAIMS_PER_SECOND),
                values.get(Options.LIMITS_REQUESTS_PER_SECOND),
                values.get(Options.LIMITS_SHARES_PER_SECOND),
                values.get(Options.LIMITS_CALLS_IN_FLIGHT),
                values.get(Options.LIMITS_SERVICE_CALLS_IN_FLIGHT),
                values.get(Options.LIMITS_POLLS_IN_FLIGHT),
                values.get(Options.LIMITS_WRONG_PASSCODES_PER_MINUTE),
                values.get(Options.LIMITS_WRONG_PASSCODES_PER_PACKET));
    }
}
