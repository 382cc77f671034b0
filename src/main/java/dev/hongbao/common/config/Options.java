package dev.hongbao.common.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Every option, as the records below {@link HongbaoConfig} declare them. Immutable. */
public final class Options {
    /** Every option and every constant. */
    static final List<Option<?>> WITH_CONSTANTS = declaredBy(HongbaoConfig.class);

    /** Every option, in the order of the records, which is also the documentation's. */
    public static final List<Option<?>> ALL =
            WITH_CONSTANTS.stream().filter(option -> !option.isFixed()).toList();

    private Options() {}

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
