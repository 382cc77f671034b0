package dev.hongbao.values;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A user of the host application: the token's {@code sub}.
 *
 * @param value 1 to 128 visible ASCII characters without blanks and quotes; not {@code .} or {@code ..}, which a URL cannot carry
 */
public record UserId(String value) {
    /** In characters. */
    public static final int MAX_LENGTH = 128;

    /** The contract's pattern of user and group ids. {@link #MAX_LENGTH} is checked apart from it. */
    public static final Pattern PATTERN = Pattern.compile("(\\.{0,2}[!#-&(-\\-/-_a-~]|\\.{3})[!#-&(-_a-~]*");

    /** The first character of an escaped id in Redis. No mark of a hash and no unescaped id begins with it. */
    private static final char ESCAPE = '.';

    public UserId {
        if (!isValid(value)) {
            throw new IllegalArgumentException(
                    "a user id is 1 to 128 visible ASCII characters without blanks and quotes");
        }
    }

    /** Whether {@code value} is a user id; the constructor's rule, without the exception. */
    public static boolean isValid(String value) {
        int length = value.length();
        if (length == 0 || length > MAX_LENGTH || value.equals(".") || value.equals("..")) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            if (c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '`') {
                return false;
            }
        }
        return true;
    }

    /**
     * The id in Redis' hashes and journals. An id that begins with neither a letter, a digit nor an underscore gets a dot before
     * it. So no id equals one of the marks beside it ({@code # ! * = ~}). Separators need no escape: they are blanks, and no id
     * has one.
     */
    public String inRedis() {
        return toRedis(value);
    }

    /** {@link #inRedis} for a text that begins with an id. */
    public static String toRedis(String text) {
        return standsAsItIs(text.charAt(0)) ? text : ESCAPE + text;
    }

    /** The id that Redis holds as {@code text}; null for text that is not an id. */
    public static @Nullable UserId ofRedis(String text) {
        if (text.isEmpty()) {
            return null;
        }
        String id = text;
        if (!standsAsItIs(text.charAt(0))) {
            if (text.charAt(0) != ESCAPE || text.length() == 1 || standsAsItIs(text.charAt(1))) {
                return null;
            }
            id = text.substring(1);
        }
        return isValid(id) ? new UserId(id) : null;
    }

    private static boolean standsAsItIs(char first) {
        return first >= 'a' && first <= 'z'
                || first >= '0' && first <= '9'
                || first >= 'A' && first <= 'Z'
                || first == '_';
    }

    @Override
    public String toString() {
        return value;
    }
}
