package dev.hongbao.config;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A server's URL that may contain a password. {@link #toString} hides the password; only {@link #value} has it.
 *
 * @param value the URL as configured
 * @param file the file that it came from; null when it was given directly
 */
public record SecretUrl(String value, @Nullable Path file) {
    // Up to the last @: a password may hold an @ or a / that should have been percent-encoded.
    private static final Pattern USER_INFO = Pattern.compile("([\\w+]+)://(\\S*)@");
    private static final Pattern PARAMETER =
            Pattern.compile("([?&][^=&\\s]*(?:password|secret|token|key)[^=&\\s]*=)[^&\\s]*", Pattern.CASE_INSENSITIVE);

    /** A URL that was given directly. */
    public SecretUrl(String value) {
        this(value, null);
    }

    /** The URL with {@code ***} in place of its password. */
    public String redacted() {
        return redact(value.replaceAll("\\s", ""));
    }

    @Override
    public String toString() {
        return redacted();
    }

    /** {@code text} with {@code ***} in place of the password of every URL in it. Hides too much rather than too little. */
    public static String redact(String text) {
        Matcher matcher = USER_INFO.matcher(text);
        String hidden = matcher.replaceAll(match -> Matcher.quoteReplacement(
                match.group(1) + "://" + withoutPassword(match.group(1), match.group(2)) + "@"));
        return PARAMETER.matcher(hidden).replaceAll("$1***");
    }

    private static String withoutPassword(String scheme, String userInfo) {
        int colon = userInfo.indexOf(':');
        if (colon >= 0) {
            return userInfo.substring(0, colon) + ":***";
        }
        // Some Redis clients read a lone word before the @ as the password.
        return scheme.startsWith("redis") ? "***" : userInfo;
    }
}
