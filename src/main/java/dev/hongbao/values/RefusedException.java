package dev.hongbao.values;

import dev.hongbao.values.InvalidInputException.FieldFault;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A refused command; the caller can act on the reason, and nothing has changed. It is answered and not logged, so it carries no
 * stack trace.
 */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Text detail;
    private final Refusal refusal;
    private final @Nullable Reason reason;
    private final transient List<FieldFault> places;

    /** @param detail one sentence for the client that says what to do; no secrets */
    public RefusedException(Refusal refusal, Text detail) {
        this(refusal, null, detail, List.of());
    }

    /** @param reason the cause, for a refusal with several */
    public RefusedException(Refusal refusal, Reason reason, Text detail) {
        this(refusal, reason, detail, List.of());
    }

    /**
     * Refuses a command that names several things.
     *
     * @param places the refused ones, at their places in the input
     */
    public RefusedException(Refusal refusal, Text detail, List<FieldFault> places) {
        this(refusal, null, detail, places);
    }

    private RefusedException(Refusal refusal, @Nullable Reason reason, Text detail, List<FieldFault> places) {
        super(null, null, false, false);
        this.detail = detail;
        this.refusal = refusal;
        this.reason = reason;
        this.places = List.copyOf(places);
    }

    public Refusal refusal() {
        return refusal;
    }

    /** The cause; null for a refusal with only one. */
    public @Nullable Reason reason() {
        return reason;
    }

    public Text detail() {
        return detail;
    }

    @Override
    public String getMessage() {
        return detail.toString();
    }

    /** The refused places of the input; mostly empty. */
    public List<FieldFault> places() {
        return places;
    }
}
