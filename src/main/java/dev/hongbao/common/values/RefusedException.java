package dev.hongbao.common.values;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A command that was refused for a reason the caller can act on; nothing has changed. Not a fault: it is answered, not
 * logged, and so carries no stack trace.
 */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Text detail;
    private final Refusal refusal;
    private final @Nullable Reason reason;
    private final transient List<FieldFault> places;

    /**
     * @param detail one sentence for the client that says what to do; no secrets
     */
    public RefusedException(Refusal refusal, Text detail) {
        this(refusal, null, detail, List.of());
    }

    /** @param reason which of the refusal's causes it is */
    public RefusedException(Refusal refusal, Reason reason, Text detail) {
        this(refusal, reason, detail, List.of());
    }

    /**
     * The refusal of a command that names many things.
     *
     * @param places those of them that it is refused for, where the input names them
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

    /** Which of the refusal's causes it is; null when it has one. */
    public @Nullable Reason reason() {
        return reason;
    }

    /** The sentence for the client. */
    public Text detail() {
        return detail;
    }

    @Override
    public String getMessage() {
        return detail.toString();
    }

    /** What the command is refused for, where there may be several; mostly empty. */
    public List<FieldFault> places() {
        return places;
    }
}
