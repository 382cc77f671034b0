package dev.hongbao.common.config;

import java.util.List;
import java.util.Locale;

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
}
