package dev.hongbao.common.values;

import dev.hongbao.common.json.Text;

/**
 * The answer is not known, or the work was not taken, because the stores or the queues cannot serve now. The client may
 * repeat the same call: every command is idempotent. Answered as 503 with {@code Retry-After}; carries no stack trace.
 */
public final class UnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What keeps the answer away. */
    public enum Reason {
        /** The outcome is not known yet. */
        UNKNOWN,
        /** The work was refused before it began. */
        OVERLOADED,
        /** The packet or draw is set aside until an operator has looked at it. */
        SET_ASIDE
    }

    /** A fault of the stores passes within seconds (invariant I11); the first retry may well succeed. */
    public static final int SOON_SECONDS = 1;

    /** An operator has to come first. */
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

    /** The outcome is not known yet; the client should ask again with the same key. */
    public static UnavailableException unknown(Text detail) {
        return new UnavailableException(detail, Reason.UNKNOWN, SOON_SECONDS);
    }

    /** A queue is full; the work was not taken. */
    public static UnavailableException overloaded(Text detail) {
        return overloaded(detail, SOON_SECONDS);
    }

    /**
     * The same, with a time of its own for each of those who are refused together, so that they do not come back together.
     *
     * @param retryAfterSeconds when the same call may be repeated, 1 or more
     */
    public static UnavailableException overloaded(Text detail, int retryAfterSeconds) {
        return new UnavailableException(detail, Reason.OVERLOADED, retryAfterSeconds);
    }

    /** A packet or a draw is set aside: nothing of it is settled until an operator has looked at it. */
    public static UnavailableException setAside() {
        return setAside(Text.of("unavailable.set-aside"));
    }

    /** The same, told to the operator who would bring it back. */
    public static UnavailableException setAside(Text detail) {
        return new UnavailableException(detail, Reason.SET_ASIDE, SET_ASIDE_SECONDS);
    }

    /** What keeps the answer away. */
    public Reason reason() {
        return reason;
    }

    /** When the same call may be repeated, 1 or more. */
    public int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** The sentence for the client. */
    public Text detail() {
        return detail;
    }

    @Override
    public String getMessage() {
        return detail.toString();
    }
}
