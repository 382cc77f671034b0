package dev.hongbao.values;

/**
 * The outcome is unknown, or the work was not taken, because a store or a queue cannot serve now. The client may repeat the same
 * call: every command is idempotent. Answered as 503 with {@code Retry-After}; carries no stack trace.
 */
public final class UnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** The outcome is not known yet. */
        UNKNOWN,
        /** The work was refused before it began. */
        OVERLOADED,
        /** The packet or draw is set aside until an operator acts. */
        SET_ASIDE
    }

    /** A fault of the stores passes within seconds (invariant I11), so the first retry can succeed. */
    public static final int SOON_SECONDS = 1;

    /** An operator has to act first. */
    private static final int SET_ASIDE_SECONDS = 60;

    private final transient Text detail;
    private final Reason reason;
    private final int retryAfterSeconds;

    private UnavailableException(Text detail, Reason reason, int retryAfterSeconds) {
        super(null, null, false, false);
        this.detail = detail;
        this.reason = reason;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /** The outcome is not known yet. The client repeats the call with the same key. */
    public static UnavailableException unknown(Text detail) {
        return new UnavailableException(detail, Reason.UNKNOWN, SOON_SECONDS);
    }

    /** A queue is full; the work was not taken. */
    public static UnavailableException overloaded(Text detail) {
        return overloaded(detail, SOON_SECONDS);
    }

    /**
     * A queue is full. Callers that are refused together get different times, so that they do not return together.
     *
     * @param retryAfterSeconds when the same call may be repeated, 1 or more
     */
    public static UnavailableException overloaded(Text detail, int retryAfterSeconds) {
        return new UnavailableException(detail, Reason.OVERLOADED, retryAfterSeconds);
    }

    /** The packet or draw is set aside: it settles nothing until an operator acts. */
    public static UnavailableException setAside() {
        return setAside(Text.of("unavailable.set-aside"));
    }

    /**
     * An operator's attempt to bring the packet or draw back failed.
     *
     * @param detail a sentence for the operator
     */
    public static UnavailableException setAside(Text detail) {
        return new UnavailableException(detail, Reason.SET_ASIDE, SET_ASIDE_SECONDS);
    }

    public Reason reason() {
        return reason;
    }

    /** When the same call may be repeated, 1 or more. */
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
}
