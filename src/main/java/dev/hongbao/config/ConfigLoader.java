package dev.hongbao.config;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the configuration. Flags beat the environment, the environment beats the file, the file beats defaults. One loader
 * makes one load; not shared.
 */
public final class ConfigLoader {
    /** A wrong file has thousands of unknown names, and hints for all of them help no reader. */
    private static final int MAX_HINTS = 50;

    private final Sources sources;
    private final List<Option<?>> options;
    private final List<ConfigException.Fault> faults = new ArrayList<>();
    private final Map<String, Setting> settings = new LinkedHashMap<>();
    /** Every option's value by path: the default, until a setting is read. */
    private final Map<String, Object> values = new HashMap<>();

    private ConfigLoader(Sources sources, List<Option<?>> options) {
        this.sources = sources;
        this.options = options;
        Option.WITH_CONSTANTS.forEach(option -> values.put(option.path(), option.defaultValue()));
    }

    /**
     * The configuration of these sources. Every name in them must be known. Only the winning value of an option must be
     * valid.
     *
     * @throws ConfigException with all faults
     */
    public static Loaded load(Sources sources) {
        return new ConfigLoader(sources, Option.ALL).load();
    }

    /** The defaults, with some options and constants replaced. */
    static HongbaoConfig ofCode(Map<String, String> byPath) {
        return new ConfigLoader(new Sources(byPath, Map.of(), null, null), Option.WITH_CONSTANTS)
                .load()
                .config();
    }

    private Loaded load() {
        Path file = file();
        if (file != null) {
            readFile(file);
        }
        readEnvironment();
        readFlags();
        new SecretFiles(settings, faults).read();
        Set<String> bad = readValues();
        freeManagementPort();
        SecretFiles.nameIn(values);
        HongbaoConfig config = Option.fill(HongbaoConfig.class, values);
        new ConfigRules(config, bad, faults, this::origin).check();
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
        List<Loaded.Effective> effective =
                Option.ALL.stream().map(this::effective).toList();
        return new Loaded(config, effective);
    }

    private @Nullable Path file() {
        if (sources.file() != null) {
            return sources.file();
        }
        String named = sources.environment().getOrDefault(Sources.FILE_VARIABLE, "");
        if (!named.isBlank()) {
            try {
                return Path.of(named);
            } catch (InvalidPathException e) {
                faults.add(new ConfigException.Fault(named, environmentOrigin(Sources.FILE_VARIABLE), "is not a path"));
                return null;
            }
        }
        Path byDefault = sources.defaultFile();
        return byDefault != null && Files.exists(byDefault) ? byDefault : null;
    }

    private void readFile(Path file) {
        List<String> known = options.stream().map(Option::path).toList();
        ConfigFile.read(file, faults).forEach((path, setting) -> {
            if (known.contains(path)) {
                settings.put(path, setting);
            } else {
                unknown(path, setting.origin(), known);
            }
        });
    }

    private void readEnvironment() {
        Map<String, String> pathByName = new LinkedHashMap<>();
        options.forEach(option -> pathByName.put(option.environmentName(), option.path()));
        new TreeMap<>(sources.environment()).forEach((name, text) -> {
            String path = pathByName.get(name);
            if (path != null) {
                settings.put(path, new Setting(text, environmentOrigin(name)));
            } else if (name.startsWith(Option.ENVIRONMENT_PREFIX)
                    && !name.startsWith(Sources.TEST_PREFIX)
                    && !name.equals(Sources.FILE_VARIABLE)) {
                unknownVariable(name, text, List.copyOf(pathByName.keySet()));
            }
        });
    }

    private void unknownVariable(String name, String text, List<String> known) {
        // Kubernetes adds such variables for a Service named hongbao.
        if (name.contains("_SERVICE_") || text.startsWith("tcp://")) {
            faults.add(new ConfigException.Fault(
                    name,
                    environmentOrigin(name),
                    "is no option; if Kubernetes made it, set enableServiceLinks: false on the pod"));
        } else {
            unknown(name, environmentOrigin(name), known);
        }
    }

    private void readFlags() {
        List<String> known = options.stream().map(Option::path).toList();
        new TreeMap<>(sources.flags()).forEach((path, text) -> {
            String origin = "flag --" + path.replace('.', '-');
            if (known.contains(path)) {
                settings.put(path, new Setting(text, origin));
            } else {
                unknown(path, origin, known);
            }
        });
    }

    private Set<String> readValues() {
        Set<String> bad = new HashSet<>();
        for (Option<?> option : options) {
            Setting setting = settings.get(option.path());
            if (setting == null) {
                continue;
            }
            try {
                values.put(option.path(), option.type().read(setting.text()));
            } catch (IllegalArgumentException e) {
                bad.add(option.path());
                String given = option.isSecret() ? "" : ", not \"" + shorten(setting.text()) + "\"";
                faults.add(new ConfigException.Fault(
                        option.path(), setting.origin(), "must be " + option.allowed() + given));
            }
        }
        return bad;
    }

    /** With one flag, a second server on a machine gets free ports. */
    private void freeManagementPort() {
        if (Objects.equals(values.get("http.port"), 0) && !settings.containsKey("management.port")) {
            values.put("management.port", 0);
        }
    }

    private Loaded.Effective effective(Option<?> option) {
        String text = option.print(Objects.requireNonNull(values.get(option.path())));
        return new Loaded.Effective(
                option, text, origin(option.path()), text.equals(option.print(option.defaultValue())));
    }

    private String origin(String path) {
        Setting setting = settings.get(path);
        return setting == null ? "default" : setting.origin();
    }

    private void unknown(String name, String origin, List<String> known) {
        Optional<String> nearest = faults.size() < MAX_HINTS ? Nearest.to(name, known) : Optional.empty();
        String hint = nearest.map(meant -> "did you mean " + meant + "?").orElse("default-config lists them all");
        faults.add(new ConfigException.Fault(name, origin, "is no option; " + hint));
    }

    private static String environmentOrigin(String name) {
        return "environment variable " + name;
    }

    private static String shorten(String text) {
        String line = SecretUrl.redact(text).replaceAll("\\p{Cntrl}", " ");
        return line.length() <= 60 ? line : line.substring(0, 60) + "…";
    }

    /**
     * The unread text of an option.
     *
     * @param text as given; may contain a password
     * @param origin as in {@link ConfigException.Fault#origin}
     */
    record Setting(String text, String origin) {}

    /**
     * The sources of options. An earlier component wins over a later one.
     *
     * @param flags texts by option path
     * @param environment the process's variables. Only names with the prefix {@code HONGBAO_} count, except those with {@code
     *     HONGBAO_TEST_}
     * @param file the file of {@code --config}, which must exist; null uses {@code HONGBAO_CONFIG}, then {@code defaultFile}
     * @param defaultFile read if it exists; null for none
     */
    public record Sources(
            Map<String, String> flags,
            Map<String, String> environment,
            @Nullable Path file,
            @Nullable Path defaultFile) {
        /** Read if it exists and no other file is named; relative to the working directory. */
        public static final Path DEFAULT_FILE = Path.of("conf", "hongbao.yaml");

        /** The variable that names a file. */
        public static final String FILE_VARIABLE = "HONGBAO_CONFIG";

        static final String TEST_PREFIX = "HONGBAO_TEST_";

        public Sources {
            flags = Map.copyOf(flags);
            environment = Map.copyOf(environment);
        }
    }

    /**
     * The configuration with the source of each value.
     *
     * @param effective every option in the order of the documentation
     */
    public record Loaded(HongbaoConfig config, List<Effective> effective) {
        public Loaded {
            effective = List.copyOf(effective);
        }

        /**
         * An option's value.
         *
         * @param text without passwords
         * @param origin as in {@link ConfigException.Fault#origin}, or {@code default}
         * @param isDefault whether the value equals the default, from any source
         */
        public record Effective(Option<?> option, String text, String origin, boolean isDefault) {}
    }
}
