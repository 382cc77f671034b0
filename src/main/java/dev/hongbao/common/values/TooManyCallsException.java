package dev.hongbao.common.values;

/**
 * The caller asks for more than its limits allow, and nothing was done. Answered as 429 with {@code Retry-After}; carries no
 * stack trace.
 */
public final class TooManyCallsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int retryAfterSeconds;

    /**
     * @param detail a sentence for the client
     * @param retryAfterSeconds when the same call may be repeated, 1 or more
     */
    public TooManyCallsException(String detail, int retryAfterSeconds) {
        super(detail, null, false, false);
        this.retryAfterSeconds = retryAfterSeconds;
    }

    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** The sentence for the client. */
    public String detail() {
        return String.valueOf(getMessage());
    }
}
