package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sources of options. An earlier component wins over a later one.
 *
 * @param flags texts by option path
 * @param environment the process's variables. Only names with the prefix {@code HONGBAO_} count, except those with {@code
 *     HONGBAO_TEST_}
 * @param file the file of {@code --config}, which must exist; null uses {@code HONGBAO_CONFIG}, then {@code defaultFile}
 * @param defaultFile read if it exists; null for none
 */
public record ConfigSources(
        Map<String, String> flags,
        Map<String, String> environment,
        @Nullable Path file,
        @Nullable Path defaultFile) {
    /** Read if it exists and no other file is named; relative to the working directory. */
    public static final Path DEFAULT_FILE = Path.of("conf", "hongbao.yaml");

    /** The variable that names a file. */
    public static final String FILE_VARIABLE = "HONGBAO_CONFIG";

    static final String TEST_PREFIX = "HONGBAO_TEST_";

    public ConfigSources {
        flags = Map.copyOf(flags);
        environment = Map.copyOf(environment);
    }
}
