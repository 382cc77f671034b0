package dev.hongbao.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
 * A YAML file as texts by option path. Only the tree of nodes is read: the file creates no objects, and each value is its
 * text, so {@code 0123} and {@code yes} have no second meaning.
 */
final class ConfigFile {
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
                fault(file.toString(), root, "must hold sections and options, such as http: with port: 8080 below it");
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
                .anyMatch(option -> option.path().equals(path) && !option.kind().equals("files"));
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
