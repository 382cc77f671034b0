package dev.hongbao.cli;

import java.util.Map;
import java.util.function.Supplier;

/**
 * Commands that not every jar of this program has. Found with a {@link java.util.ServiceLoader}, so a jar that leaves their classes out leaves the line in
 * {@code META-INF/services} out as well, and nothing else knows them.
 */
public interface MoreCommands {
    /** What makes each command, by its name, in the order of the help. */
    Map<String, Supplier<Object>> byName();
}
