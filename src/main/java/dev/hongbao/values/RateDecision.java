package dev.hongbao.values;

/**
 * A rate limit's decision for one call, as header fields of draft-ietf-httpapi-ratelimit-headers.
 *
 * @param allowed false: answer 429
 * @param policy the {@code RateLimit-Policy} field; empty when there is no limit
 * @param state the {@code RateLimit} field; empty when there is no limit
 * @param retryAfterSeconds 1 or more when refused, else 0
 */
public record RateDecision(boolean allowed, String policy, String state, int retryAfterSeconds) {
    /** There is no limit. */
    public static final RateDecision UNLIMITED = new RateDecision(true, "", "", 0);

    public boolean isLimited() {
        return !policy.isEmpty();
    }
}
