package dev.hongbao.values;

import java.util.List;

/** An input that breaks the contract. It is answered and not logged, so it carries no stack trace. */
public final class InvalidInputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean malformedJson;
    private final transient List<FieldFault> faults;

    private InvalidInputException(boolean malformedJson, List<FieldFault> faults) {
        super(faults.toString(), null, false, false);
        this.malformedJson = malformedJson;
        this.faults = List.copyOf(faults);
    }

    /** For text that is not JSON, or JSON that {@link StrictJson} refuses. */
    public static InvalidInputException malformedJson(String pointer, Text detail) {
        return new InvalidInputException(true, List.of(new FieldFault(pointer, detail)));
    }

    /** For well-formed JSON with one fault. */
    public static InvalidInputException of(String pointer, Text detail) {
        return of(List.of(new FieldFault(pointer, detail)));
    }

    /**
     * For well-formed JSON with several faults.
     *
     * @param faults at least one
     */
    public static InvalidInputException of(List<FieldFault> faults) {
        return new InvalidInputException(false, faults);
    }

    /** A copy for a body that is a field of another one. @param field its JSON pointer, such as {@code /packet} */
    public InvalidInputException within(String field) {
        return new InvalidInputException(
                malformedJson,
                faults.stream()
                        .map(fault ->
                                new FieldFault("#" + field + fault.pointer().substring(1), fault.detail()))
                        .toList());
    }

    /** Whether the text was refused as JSON, before any field was checked. */
    public boolean isMalformedJson() {
        return malformedJson;
    }

    /** The faults with their places; at least one. */
    public List<FieldFault> faults() {
        return faults;
    }

    /**
     * One fault of an input, and its place.
     *
     * @param pointer a JSON pointer into the body as a URI fragment ({@code #/amount}), or {@code path/…}, {@code query/…},
     *     {@code header/…}
     * @param detail what is allowed; never repeats a secret
     */
    public record FieldFault(String pointer, Text detail) {
        /** For exceptions and logs, in English. */
        @Override
        public String toString() {
            return pointer + " " + detail;
        }
    }
}
