package dev.hongbao.domain.odds;

import dev.hongbao.common.json.FieldFault;
import java.util.List;

/** An invalid definition, with all its errors. It is answered, not logged, so it has no stack trace. */
public final class DefinitionFaults extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<FieldFault> faults;

    /** @param faults at least one */
    public DefinitionFaults(List<FieldFault> faults) {
        super(faults.toString(), null, false, false);
        this.faults = List.copyOf(faults);
    }

    public List<FieldFault> faults() {
        return faults;
    }
}
