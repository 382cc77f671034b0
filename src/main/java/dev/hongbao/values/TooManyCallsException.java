package dev.hongbao.values;

/** A caller exceeds its limits; nothing was done. Answered as 429 with {@code Retry-After}; carries no stack trace. */
public final class TooManyCallsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Text detail;
    private final Reason reason;
    private final int retryAfterSeconds;

    /**
     * @param reason the exceeded limit
     * @param detail a sentence for the client
     * @param retryAfterSeconds when the same call may be repeated, 1 or more
     */
    public TooManyCallsException(Reason reason, Text detail, int retryAfterSeconds) {
        super(null, null, false, false);
        this.detail = detail;
        this.reason = reason;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    public Reason reason() {
        return reason;
    }

    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    public Text detail() {
        return detail;
    }

    @Override
    public String getMessage() {
        return detail.toString();
    }

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
}
