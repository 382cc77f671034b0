package dev.hongbao.domain.odds;

import java.util.List;

/** A definition that is not one, with everything that is wrong with it. Answered, not logged, and so without a stack trace. */
public final class DefinitionFaults extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Fault> faults;

    /**
     * One fault.
     *
     * @param pointer where, as a JSON pointer in a URI fragment: {@code #/prizes/2/stock}
     * @param detail what is allowed there, in words that follow the pointer
     */
    public record Fault(String pointer, String detail) {}

    /** @param faults at least one */
    public DefinitionFaults(List<Fault> faults) {
        super(faults.toString(), null, false, false);
        this.faults = List.copyOf(faults);
    }

    public List<Fault> faults() {
        return faults;
    }
}
