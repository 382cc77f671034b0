package dev.hongbao.config;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An option of the server, as declared by a {@link ConfigOption}.
 *
 * @param path the name in the file, with dots between sections: {@code http.base-path}
 * @param defaultText the default, as written in the file
 * @param doc for operators: the effect, and the meaning of special values such as 0 or empty
 * @param isFixed whether it is a constant that only code can change
 * @param shortFlags other flags beside {@link #flag}; usually none
 */
public record Option<T>(
        String path, OptionType<T> type, String defaultText, String doc, boolean isFixed, List<String> shortFlags) {
    public static final String ENVIRONMENT_PREFIX = "HONGBAO_";

    private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

    /** Every option and every constant. */
    static final List<Option<?>> WITH_CONSTANTS = declaredBy(HongbaoConfig.class);

    /** Every option, in the order of the records, which is also the documentation's. */
    public static final List<Option<?>> ALL =
            WITH_CONSTANTS.stream().filter(option -> !option.isFixed()).toList();

    public Option {
        shortFlags = List.copyOf(shortFlags);
    }

    /** {@code http.base-path} → {@code --http-base-path}. */
    public String flag() {
        return "--" + path.replace('.', '-');
    }

    /** {@code http.base-path} → {@code HONGBAO_HTTP_BASE_PATH}. */
    public String environmentName() {
        return ENVIRONMENT_PREFIX + path.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /** The range or the choices, with the unit. */
    public String allowed() {
        return type.allowed();
    }

    /** One word: integer, duration, text, file … */
    public String kind() {
        return type.kind();
    }

    /** Whether a value may contain a password. Never print such a value as given. */
    public boolean isSecret() {
        return type.kind().equals("url");
    }

    T defaultValue() {
        return type.read(defaultText);
    }

    /** The value as text, without passwords. */
    @SuppressWarnings("unchecked") // Only the option's own type reads its values.
    String print(Object value) {
        return type.printer().apply((T) value);
    }

    private static List<Option<?>> declaredBy(Class<?> record) {
        List<Option<?>> found = new ArrayList<>();
        for (RecordComponent component : record.getRecordComponents()) {
            ConfigOption declared = component.getAnnotation(ConfigOption.class);
            if (declared == null) {
                found.addAll(declaredBy(component.getType()));
                continue;
            }
            found.add(new Option<>(
                    declared.path(),
                    OptionType.of(declared, component),
                    declared.unset(),
                    declared.doc(),
                    declared.fixed(),
                    declared.shortFlag().isEmpty() ? List.of() : List.of(declared.shortFlag())));
            if (SecretFiles.mayHold(declared.kind())) {
                found.add(SecretFiles.optionFor(declared.path()));
            }
        }
        return List.copyOf(found);
    }

    /**
     * Fills a record with the values of its options.
     *
     * @param values every option's value by path; an {@link Optional} for a component that may be null
     */
    static <R> R fill(Class<R> record, Map<String, Object> values) {
        RecordComponent[] components = record.getRecordComponents();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] arguments = Arrays.stream(components)
                .map(component -> value(component, values))
                .toArray();
        try {
            return record.getDeclaredConstructor(types).newInstance(arguments);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException("a config record takes what its options hold", impossible);
        }
    }

    private static @Nullable Object value(RecordComponent component, Map<String, Object> values) {
        ConfigOption declared = component.getAnnotation(ConfigOption.class);
        if (declared == null) {
            return fill(component.getType(), values);
        }
        Object value = values.get(declared.path());
        return value instanceof Optional<?> optional ? optional.orElse(null) : value;
    }

    /**
     * Reads a duration: a whole number and a unit, {@code ms}, {@code s}, {@code m}, {@code h} or {@code d}.
     *
     * @throws IllegalArgumentException when the text is not a duration
     */
    public static Duration parseDuration(String text) {
        Matcher matcher = DURATION.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a duration is a whole number and a unit: 500ms, 2s, 5m, 24h, 7d");
        }
        long count = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    /** The shortest text that {@link #parseDuration} reads back as the same duration; whole milliseconds only. */
    static String printDuration(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 1_000 != 0) {
            return millis + "ms";
        }
        long seconds = millis / 1_000;
        if (seconds == 0 || seconds % 60 != 0) {
            return seconds + "s";
        }
        if (seconds % 3_600 != 0) {
            return seconds / 60 + "m";
        }
        // One and two days print as 24h and 48h, longer times as days.
        return seconds % 86_400 == 0 && seconds > 2 * 86_400 ? seconds / 86_400 + "d" : seconds / 3_600 + "h";
    }

    /** The options as text: the default file, the guide's table, and the effective values. */
    public static final class ConfigText {
        private ConfigText() {}

        /**
         * A YAML file with every option at its default, commented out ({@code #key: value}; prose is {@code # like this}). It
         * changes nothing until a line is uncommented.
         */
        public static String defaultYaml() {
            StringBuilder out = new StringBuilder("""
                    # Hongbao's options, each commented out at its default. Remove the # before a key to set it.
                    # Flags beat environment variables beat this file. Read from conf/hongbao.yaml, or from --config FILE (HONGBAO_CONFIG).
                    # Every option also has a variable and a flag: HONGBAO_HTTP_PORT and --http-port for http.port.
                    # Relative paths start at the working directory.
                    """);
            String section = "";
            for (Option<?> option : Option.ALL) {
                int dot = option.path().indexOf('.');
                String head = dot < 0 ? "" : option.path().substring(0, dot);
                String indent = head.isEmpty() ? "" : "  ";
                if (!head.equals(section) || head.isEmpty()) {
                    out.append('\n');
                    out.append(head.isEmpty() ? "" : head + ":\n");
                    section = head;
                }
                out.append(indent).append("# ").append(option.doc()).append('\n');
                out.append(indent)
                        .append("# Allowed: ")
                        .append(option.allowed())
                        .append(".\n");
                String key = option.path().substring(dot + 1);
                out.append(indent)
                        .append('#')
                        .append(key)
                        .append(": ")
                        .append(yamlDefault(option))
                        .append('\n');
            }
            return out.toString();
        }

        public static String markdownTable() {
            String rows = Option.ALL.stream()
                    .map(option -> "| `%s` | %s | %s | %s |"
                            .formatted(
                                    option.path(),
                                    option.defaultText().isEmpty() ? "" : "`" + option.defaultText() + "`",
                                    cell(option.kind() + ": " + option.allowed()),
                                    cell(option.doc())))
                    .collect(Collectors.joining("\n"));
            return "| option | default | allowed | what it does |\n|---|---|---|---|\n" + rows + "\n";
        }

        /** One line per option: path, value without passwords, and source. */
        public static String effective(ConfigLoader.Loaded loaded) {
            return loaded.effective().stream()
                    .map(each -> each.option().path() + " = " + each.text() + "  (" + each.origin() + ")")
                    .collect(Collectors.joining("\n"));
        }

        private static String yamlDefault(Option<?> option) {
            if (option.defaultText().isEmpty()) {
                return option.kind().equals("files") ? "[]" : "\"\"";
            }
            return option.defaultText();
        }

        private static String cell(String text) {
            return text.replace("|", "\\|");
        }
    }
}
