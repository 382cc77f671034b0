package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** One value per option, while the records are built. Confined to the loading thread. */
final class OptionValues {
    private final IdentityHashMap<Option<?>, Object> values = new IdentityHashMap<>();
    private final Set<Option<?>> read = new HashSet<>();

    /** Every option at its default. */
    static OptionValues defaults() {
        OptionValues values = new OptionValues();
        Options.ALL.forEach(values::setDefault);
        return values;
    }

    <T> void setDefault(Option<T> option) {
        values.put(option, Objects.requireNonNull(option.defaultValue()));
    }

    /**
     * Reads the text and keeps its value.
     *
     * @throws IllegalArgumentException when it is not allowed; the option then keeps the value it had
     */
    <T> void set(Option<T> option, String text) {
        values.put(option, Objects.requireNonNull(option.type().read(text)));
    }

    @SuppressWarnings("unchecked") // set() and setDefault() are the only writers, and both are typed.
    <T> T get(Option<T> option) {
        read.add(option);
        return (T) Objects.requireNonNull(values.get(option));
    }

    /** A URL, and the file that it was read from. */
    Optional<SecretUrl> get(Option<Optional<SecretUrl>> option, Option<Optional<Path>> file) {
        Path from = get(file).orElse(null);
        return get(option).map(url -> new SecretUrl(url.value(), from));
    }

    /** The value as text, without passwords. */
    <T> String print(Option<T> option) {
        return option.print(get(option));
    }

    /** The options that were asked for; a test holds that no option is defined and then forgotten. */
    Set<Option<?>> read() {
        return Set.copyOf(read);
    }
}
