package dev.hongbao.cli;

import java.util.Map;
import java.util.function.Supplier;

/**
 * Commands that only some jars have, found with a {@link java.util.ServiceLoader}. A jar without their classes also omits the
 * line in {@code META-INF/services}; nothing else refers to them.
 */
interface MoreCommands {
    /** The commands' factories by command name, in the order of the help. */
    Map<String, Supplier<Object>> byName();
}
