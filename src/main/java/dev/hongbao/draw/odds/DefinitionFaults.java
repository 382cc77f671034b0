package dev.hongbao.draw.odds;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import java.util.List;

/** An invalid definition, with all its errors. It is answered, not logged, so it has no stack trace. */
public final class DefinitionFaults extends InvalidInputException {
    private static final long serialVersionUID = 1L;

    /** @param faults at least one */
    public DefinitionFaults(List<FieldFault> faults) {
        super(faults);
    }
}
