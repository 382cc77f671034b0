package dev.hongbao.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
    /** The prefix of Hongbao's environment variables. */
    public static final String ENVIRONMENT_PREFIX = "HONGBAO_";

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
}
