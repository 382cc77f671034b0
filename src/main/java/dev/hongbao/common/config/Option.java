package dev.hongbao.common.config;

import java.util.List;
import java.util.Locale;

/**
 * One option of the server, as a {@link ConfigOption} declares it.
 *
 * @param path its name in the file, sections separated by dots: {@code http.base-path}
 * @param defaultText the default, as it would be written in the file
 * @param doc one line for people: what it does, and what a special value such as 0 or empty means
 * @param isFixed whether it is a constant that only code changes
 * @param shortFlags further flags beside {@link #flag}; usually none
 */
public record Option<T>(
        String path, OptionType<T> type, String defaultText, String doc, boolean isFixed, List<String> shortFlags) {
    /** What every environment variable of Hongbao begins with. */
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

    /** Whether a value may carry a password: never print one as it was given. */
    public boolean isSecret() {
        return type.kind().equals("url");
    }

    T defaultValue() {
        return type.read(defaultText);
    }

    /** The value as text, without passwords. */
    @SuppressWarnings("unchecked") // Only the type itself reads values of the option.
    String print(Object value) {
        return type.printer().apply((T) value);
    }
}
