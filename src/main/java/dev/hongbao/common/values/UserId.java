package dev.hongbao.common.values;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A user of the host application: the token's {@code sub}.
 *
 * @param value 1 to 128 visible ASCII characters without blanks and quotes; not {@code .} or {@code ..}, which no URL can name
 */
public record UserId(String value) {
    /** The longest id, characters. */
    public static final int MAX_LENGTH = 128;

    /** The pattern of a user's and a group's id, also the contract's; {@link #MAX_LENGTH} is apart from it. */
    public static final Pattern PATTERN = Pattern.compile("(\\.{0,2}[!#-&(-\\-/-_a-~]|\\.{3})[!#-&(-_a-~]*");

    /** The first character of an escaped id in Redis. No mark of a hash and no unescaped id begins with it. */
    private static final char ESCAPE = '.';

    public UserId {
        if (!isValid(value)) {
            throw new IllegalArgumentException(
                    "a user id is 1 to 128 visible ASCII characters without blanks and quotes");
        }
    }

    /** Whether {@code value} could be a user id; the same rule as the constructor, without the exception. */
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
     * The id as it stands in Redis, in hashes and in the journal: its own text, but for one that begins with neither a letter, a digit
     * nor an underscore, which gets a dot before it. So it is none of the marks beside it ({@code # ! * = ~}). No separator needs an
     * escape: they are blanks, and no id has one.
     */
    public String inRedis() {
        return toRedis(value);
    }

    /** {@link #inRedis} for a text that begins with an id. */
    public static String toRedis(String text) {
        return standsAsItIs(text.charAt(0)) ? text : ESCAPE + text;
    }

    /** The id that stands in Redis as {@code text}; null when none does. */
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
