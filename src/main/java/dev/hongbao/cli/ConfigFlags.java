package dev.hongbao.cli;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.Option;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;

/** The flags of the configuration, one for every option, on one command. Confined to the main thread. */
final class ConfigFlags {
    private final Map<String, String> environment;
    private final @Nullable Path defaultFile;
    private final Map<String, String> byPath = new LinkedHashMap<>();
    private @Nullable Path file;

    /**
     * @param environment the process's variables
     * @param defaultFile read when it exists and no other is named; null for none
     */
    ConfigFlags(Map<String, String> environment, @Nullable Path defaultFile) {
        this.environment = Map.copyOf(environment);
        this.defaultFile = defaultFile;
    }

    /** Adds every flag to the command; its help shows {@code --config} and those that {@code shown} selects. */
    void addTo(CommandSpec command, Predicate<Option<?>> shown) {
        command.addOption(OptionSpec.builder("--config")
                .paramLabel("FILE")
                .type(Path.class)
                .setter(setter(value -> file = (Path) value))
                .description("YAML file; default conf/hongbao.yaml when it exists.")
                .build());
        for (Option<?> option : Option.ALL) {
            String[] names = Stream.concat(option.shortFlags().stream(), Stream.of(option.flag()))
                    .toArray(String[]::new);
            command.addOption(OptionSpec.builder(names)
                    .paramLabel(option.kind().toUpperCase(Locale.ROOT))
                    .type(String.class)
                    .setter(setter(value -> keep(option, (String) value)))
                    .hidden(!shown.test(option))
                    .description(description(option))
                    .build());
        }
    }

    /**
     * The configuration with the flags of the last parse.
     *
     * @throws ConfigException with all faults
     */
    ConfigLoader.Loaded load() {
        return ConfigLoader.load(new ConfigLoader.Sources(byPath, environment, file, defaultFile));
    }

    private void keep(Option<?> option, @Nullable String value) {
        if (value == null) {
            byPath.remove(option.path()); // A new parse begins.
        } else {
            byPath.put(option.path(), value);
        }
    }

    private static String description(Option<?> option) {
        String byDefault = option.defaultText().isEmpty() ? "" : " Default " + option.defaultText() + ".";
        // picocli formats descriptions: a percent sign would be a directive.
        return (option.doc() + byDefault).replace("%", "%%");
    }

    private static ISetter setter(Consumer<@Nullable Object> consumer) {
        return new ISetter() {
            @Override
            @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "NullAway"})
            public <T> T set(T value) {
                consumer.accept(value);
                return value;
            }
        };
    }
}
