package dev.hongbao.config;

/**
 * Rates of one user; 0 is no limit.
 *
 * @param claimsPerSecond claims
 * @param requestsPerSecond every other request
 * @param wrongPasscodesPerMinute wrong passcodes, over all packets
 */
public record LimitsConfig(int claimsPerSecond, int requestsPerSecond, int wrongPasscodesPerMinute) {
    public LimitsConfig {
        Options.LIMITS_CLAIMS_PER_SECOND.require(claimsPerSecond);
        Options.LIMITS_REQUESTS_PER_SECOND.require(requestsPerSecond);
        Options.LIMITS_WRONG_PASSCODES_PER_MINUTE.require(wrongPasscodesPerMinute);
    }

    static LimitsConfig from(OptionValues values) {
        return new LimitsConfig(
                values.get(Options.LIMITS_CLAIMS_PER_SECOND),
                values.get(Options.LIMITS_REQUESTS_PER_SECOND),
                values.get(Options.LIMITS_WRONG_PASSCODES_PER_MINUTE));
    }
}
