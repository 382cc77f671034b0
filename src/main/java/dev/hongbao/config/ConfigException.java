package dev.hongbao.config;

import java.util.List;
import java.util.stream.Collectors;

/** The configuration has faults. Carries all of them, and no stack trace, since people read it. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Fault> faults;

    public ConfigException(List<Fault> faults) {
        super(
                "the configuration has " + (faults.size() == 1 ? "a fault" : faults.size() + " faults") + ":\n"
                        + faults.stream().map(fault -> "  " + fault).collect(Collectors.joining("\n")),
                null,
                false,
                false);
        this.faults = List.copyOf(faults);
    }

    /** At least one. */
    public List<Fault> faults() {
        return faults;
    }

    /**
     * A fault of the configuration.
     *
     * @param path the option's path, or the unknown name as given
     * @param origin the value's source: {@code conf/hongbao.yaml line 3}, {@code environment variable HONGBAO_HTTP_PORT},
     *     {@code flag --http-port}
     * @param problem the fault and the allowed values; without secrets
     */
    public record Fault(String path, String origin, String problem) {
        @Override
        public String toString() {
            return path + " (" + origin + "): " + problem;
        }
    }
}
