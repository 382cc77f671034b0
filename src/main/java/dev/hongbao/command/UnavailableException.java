package dev.hongbao.command;

/**
 * The answer is not known, or the work was not taken, because the stores or the queues cannot serve now. The client may
 * repeat the same call: every command is idempotent. Answered as 503 with {@code Retry-After}; carries no stack trace.
 */
public final class UnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean overloaded;

    private UnavailableException(String detail, boolean overloaded) {
        super(detail, null, false, false);
        this.overloaded = overloaded;
    }

    /** The outcome is not known yet; the client should ask again with the same key. */
    public static UnavailableException unknown(String detail) {
        return new UnavailableException(detail, false);
    }

    /** A queue is full; the work was not taken. */
    public static UnavailableException overloaded(String detail) {
        return new UnavailableException(detail, true);
    }

    /** True when the work was refused before it began, false when its outcome is unknown. */
    public boolean isOverloaded() {
        return overloaded;
    }

    /** The sentence for the client. */
    public String detail() {
        return String.valueOf(getMessage());
    }
}
