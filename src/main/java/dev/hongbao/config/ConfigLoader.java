package dev.hongbao.config;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;

/**
 * Reads the configuration. Flags beat the environment, the environment beats the file, the file beats defaults. One loader
 * makes one load; not shared.
 */
public final class ConfigLoader {
    /** A wrong file has thousands of unknown names, and hints for all of them help no reader. */
    private static final int MAX_HINTS = 50;

    private static final int MAX_EDITS = 3;

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
        Optional<String> nearest = faults.size() < MAX_HINTS ? nearest(name, known) : Optional.empty();
        String hint = nearest.map(meant -> "did you mean " + meant + "?").orElse("default-config lists them all");
        faults.add(new ConfigException.Fault(name, origin, "is no option; " + hint));
    }

    /** The name that a mistyped one stands for: the closest within three edits (Levenshtein), the first of equals; empty when none is close. */
    public static Optional<String> nearest(String typed, Collection<String> names) {
        return names.stream()
                .filter(name -> edits(typed, name) <= Math.min(MAX_EDITS, name.length() / 2))
                .min(Comparator.comparingInt(name -> edits(typed, name)));
    }

    private static int edits(String a, String b) {
        if (Math.abs(a.length() - b.length()) > MAX_EDITS) {
            return Integer.MAX_VALUE; // a mistyped name may be as long as the file
        }
        int[] row = new int[b.length() + 1];
        Arrays.setAll(row, j -> j);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    private static String environmentOrigin(String name) {
        return "environment variable " + name;
    }

    private static String shorten(String text) {
        String line = SecretUrl.redact(text).replaceAll("\\p{Cc}", " ");
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

    /**
     * A YAML file as texts by option path. Only the tree of nodes is read: the file creates no objects, and each value is its
     * text, so {@code 0123} and {@code yes} have no second meaning.
     */
    static final class ConfigFile {
        /** Ten times the size of a file with every option and its comment. */
        static final int MAX_BYTES = 256 * 1_024;

        private static final int MAX_DEPTH = 10;

        private final Path file;
        private final List<ConfigException.Fault> faults;
        private final Map<String, ConfigLoader.Setting> settings = new LinkedHashMap<>();

        private ConfigFile(Path file, List<ConfigException.Fault> faults) {
            this.file = file;
            this.faults = faults;
        }

        /** The file's settings, also of unknown options. Adds faults of the file to {@code faults}. */
        static Map<String, ConfigLoader.Setting> read(Path file, List<ConfigException.Fault> faults) {
            ConfigFile reader = new ConfigFile(file, faults);
            reader.parse();
            return reader.settings;
        }

        private void parse() {
            try {
                Node root = yaml().compose(new StringReader(text()));
                if (root instanceof MappingNode mapping) {
                    flatten("", mapping);
                } else if (root != null && !isNull(root)) {
                    fault(
                            file.toString(),
                            root,
                            "must hold sections and options, such as http: with port: 8080 below it");
                }
            } catch (MarkedYAMLException e) {
                String where = e.getProblemMark() == null
                        ? ""
                        : " line " + (e.getProblemMark().getLine() + 1);
                faults.add(new ConfigException.Fault(file.toString(), "file" + where, "is no YAML: " + e.getProblem()));
            } catch (YAMLException e) {
                faults.add(new ConfigException.Fault(file.toString(), "file", "is refused: " + e.getMessage()));
            } catch (NoSuchFileException e) {
                faults.add(new ConfigException.Fault(file.toString(), "file", "does not exist"));
            } catch (CharacterCodingException e) {
                faults.add(new ConfigException.Fault(file.toString(), "file", "is not UTF-8"));
            } catch (IOException e) {
                faults.add(new ConfigException.Fault(file.toString(), "file", "cannot be read: " + e.getMessage()));
            }
        }

        private String text() throws IOException {
            try (InputStream in = Files.newInputStream(file)) {
                byte[] bytes = in.readNBytes(MAX_BYTES + 1);
                if (bytes.length > MAX_BYTES) {
                    throw new IOException("more than " + MAX_BYTES + " bytes");
                }
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            }
        }

        private static Yaml yaml() {
            LoaderOptions options = new LoaderOptions();
            options.setCodePointLimit(MAX_BYTES);
            options.setNestingDepthLimit(MAX_DEPTH);
            options.setMaxAliasesForCollections(0);
            options.setAllowDuplicateKeys(false);
            options.setAllowRecursiveKeys(false);
            DumperOptions dumper = new DumperOptions();
            return new Yaml(new SafeConstructor(options), new Representer(dumper), dumper, options);
        }

        private void flatten(String prefix, MappingNode mapping) {
            Set<String> keys = new HashSet<>();
            for (NodeTuple tuple : mapping.getValue()) {
                if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                    fault(prefix + "?", tuple.getKeyNode(), "a key must be a plain word");
                    continue;
                }
                String path = prefix + key.getValue();
                if (!keys.add(key.getValue())) {
                    fault(path, key, "is there a second time; every key once");
                    continue;
                }
                Node value = tuple.getValueNode();
                if (value instanceof MappingNode section) {
                    flatten(path + ".", section);
                } else if (!isNull(value) || !isSection(path)) { // A section may have all its options commented out.
                    set(path, key, text(path, value));
                }
            }
        }

        private void set(String path, Node key, @Nullable String text) {
            if (text == null) {
                return;
            }
            ConfigLoader.Setting before = settings.putIfAbsent(path, new ConfigLoader.Setting(text, origin(key)));
            if (before != null) {
                fault(path, key, "is there a second time; first in " + before.origin());
            }
        }

        private @Nullable String text(String path, Node value) {
            if (value instanceof ScalarNode scalar) {
                return isNull(scalar) ? "" : scalar.getValue();
            }
            List<String> items = new ArrayList<>();
            for (Node item : ((SequenceNode) value).getValue()) {
                if (!(item instanceof ScalarNode scalar)) {
                    fault(path, item, "must be a list of plain texts");
                    return null;
                }
                items.add(Objects.requireNonNullElse(scalar.getValue(), ""));
            }
            boolean takesOne = Option.ALL.stream()
                    .anyMatch(option ->
                            option.path().equals(path) && !option.kind().equals("files"));
            if (takesOne) {
                fault(path, value, "must be one value, not a list");
                return null;
            }
            return items.stream().collect(Collectors.joining(","));
        }

        private static boolean isNull(Node node) {
            return node.getTag().equals(Tag.NULL);
        }

        private static boolean isSection(String path) {
            return Option.ALL.stream().anyMatch(option -> option.path().startsWith(path + "."));
        }

        private void fault(String path, Node node, String problem) {
            faults.add(new ConfigException.Fault(path, origin(node), problem));
        }

        private String origin(Node node) {
            return file + " line " + (node.getStartMark().getLine() + 1);
        }
    }
}
