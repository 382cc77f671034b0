package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the options come from; the earlier wins.
 *
 * @param flags texts by option path
 * @param environment the process's variables; only those that begin with {@code HONGBAO_} are looked at, and those that
 *     begin with {@code HONGBAO_TEST_} are not
 * @param file asked for by {@code --config}, must exist; null looks for {@code HONGBAO_CONFIG}, then for {@code defaultFile}
 * @param defaultFile read only when it exists; null for none
 */
public record ConfigSources(
        Map<String, String> flags,
        Map<String, String> environment,
        @Nullable Path file,
        @Nullable Path defaultFile) {
    /** Read when it exists and no other is named, relative to the working directory. */
    public static final Path DEFAULT_FILE = Path.of("conf", "hongbao.yaml");

    /** The variable that names a file. */
    public static final String FILE_VARIABLE = "HONGBAO_CONFIG";

    static final String TEST_PREFIX = "HONGBAO_TEST_";

    public ConfigSources {
        flags = Map.copyOf(flags);
        environment = Map.copyOf(environment);
    }
}
