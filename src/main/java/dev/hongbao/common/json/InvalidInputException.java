package dev.hongbao.common.json;

import java.util.List;

/** An input that is not what the contract says; answered, not logged, and so without a stack trace. */
public final class InvalidInputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean malformedJson;
    private final transient List<FieldFault> faults;

    private InvalidInputException(boolean malformedJson, List<FieldFault> faults) {
        super(faults.toString(), null, false, false);
        this.malformedJson = malformedJson;
        this.faults = List.copyOf(faults);
    }

    /** Text that is no JSON document this server reads. */
    public static InvalidInputException malformedJson(String pointer, Text detail) {
        return new InvalidInputException(true, List.of(new FieldFault(pointer, detail)));
    }

    /** Well-formed, but against the contract. */
    public static InvalidInputException of(String pointer, Text detail) {
        return of(List.of(new FieldFault(pointer, detail)));
    }

    /**
     * Well-formed, but against the contract in several places.
     *
     * @param faults at least one
     */
    public static InvalidInputException of(List<FieldFault> faults) {
        return new InvalidInputException(false, faults);
    }

    /** Whether the text is no JSON document at all. */
    public boolean isMalformedJson() {
        return malformedJson;
    }

    /** What is wrong, and where; at least one. */
    public List<FieldFault> faults() {
        return faults;
    }
}
