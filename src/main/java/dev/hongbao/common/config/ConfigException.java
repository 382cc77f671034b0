package dev.hongbao.common.config;

import java.util.List;
import java.util.stream.Collectors;

/** The configuration has faults. Carries all of them, and no stack trace, since people read it. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<ConfigFault> faults;

    public ConfigException(List<ConfigFault> faults) {
        super(
                "the configuration has " + (faults.size() == 1 ? "a fault" : faults.size() + " faults") + ":\n"
                        + faults.stream().map(fault -> "  " + fault).collect(Collectors.joining("\n")),
                null,
                false,
                false);
        this.faults = List.copyOf(faults);
    }

    /** At least one. */
    public List<ConfigFault> faults() {
        return faults;
    }
}
