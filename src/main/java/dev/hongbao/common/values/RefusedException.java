package dev.hongbao.common.values;

import dev.hongbao.common.json.FieldFault;
import java.util.List;

/**
 * A command that was refused for a reason the caller can act on; nothing has changed. Not a fault: it is answered, not
 * logged, and so carries no stack trace.
 */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Refusal refusal;
    private final transient List<FieldFault> places;

    /**
     * @param detail one sentence for the client that says what to do; no secrets
     */
    public RefusedException(Refusal refusal, String detail) {
        this(refusal, detail, List.of());
    }

    /**
     * The refusal of a command that names many things.
     *
     * @param places those of them that it is refused for, where the input names them
     */
    public RefusedException(Refusal refusal, String detail, List<FieldFault> places) {
        super(detail, null, false, false);
        this.refusal = refusal;
        this.places = List.copyOf(places);
    }

    public Refusal refusal() {
        return refusal;
    }

    /** The sentence for the client. */
    public String detail() {
        return String.valueOf(getMessage());
    }

    /** What the command is refused for, where there may be several; mostly empty. */
    public List<FieldFault> places() {
        return places;
    }
}
