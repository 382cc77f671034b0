package dev.hongbao.common.config;

import java.util.List;
import java.util.Locale;

/**
 * One option of the server, defined once in {@link Options}. Flag, environment name, file key, documentation and check all
 * follow from it.
 *
 * @param path its name in the file, sections separated by dots: {@code http.max-body}
 * @param defaultText the default, as it would be written in the file
 * @param doc one line for people: what it does, and what a special value such as 0 or empty means
 * @param shortFlags further flags beside {@link #flag}; usually none
 */
public record Option<T>(String path, OptionType<T> type, String defaultText, String doc, List<String> shortFlags) {
    /** What every environment variable of Hongbao begins with. */
    public static final String ENVIRONMENT_PREFIX = "HONGBAO_";

    public Option {
        shortFlags = List.copyOf(shortFlags);
    }

    /** {@code http.max-body} → {@code --http-max-body}. */
    public String flag() {
        return "--" + path.replace('.', '-');
    }

    /** {@code http.max-body} → {@code HONGBAO_HTTP_MAX_BODY}. */
    public String environmentName() {
        return ENVIRONMENT_PREFIX + path.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /** The range or the choices, with the unit. */
    public String allowed() {
        return type.allowed();
    }

    /** One word: integer, duration, size, text, file … */
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
    String print(T value) {
        return type.printer().apply(value);
    }

    /**
     * The same value, when it is in range. The records check with it what a caller in code gave them.
     *
     * @throws IllegalArgumentException naming the path and what is allowed
     */
    T require(T value) {
        if (!type.rule().test(value)) {
            throw new IllegalArgumentException(path + " must be " + allowed() + ", not " + print(value));
        }
        return value;
    }
}
