package dev.hongbao.common.values;

/**
 * A command that was refused for a reason the caller can act on; nothing has changed. Not a fault: it is answered, not
 * logged, and so carries no stack trace.
 */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Refusal refusal;

    /**
     * @param detail one sentence for the client that says what to do; no secrets
     */
    public RefusedException(Refusal refusal, String detail) {
        super(detail, null, false, false);
        this.refusal = refusal;
    }

    public Refusal refusal() {
        return refusal;
    }

    /** The sentence for the client. */
    public String detail() {
        return String.valueOf(getMessage());
    }
}
