package dev.hongbao.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations in the configuration: a whole number and a unit, {@code ms}, {@code s}, {@code m}, {@code h}, {@code d}. */
public final class DurationText {
    private static final Pattern PATTERN = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

    private DurationText() {}

    /**
     * Reads {@code 500ms}, {@code 2s}, {@code 24h}. A unit is required.
     *
     * @throws IllegalArgumentException when the text is not a duration
     */
    public static Duration parse(String text) {
        Matcher matcher = PATTERN.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a duration is a whole number and a unit: 500ms, 2s, 5m, 24h, 7d");
        }
        long count = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    /** The shortest text that {@link #parse} reads back as the same duration; whole milliseconds only. */
    public static String print(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 1_000 != 0) {
            return millis + "ms";
        }
        long seconds = millis / 1_000;
        if (seconds == 0 || seconds % 60 != 0) {
            return seconds + "s";
        }
        if (seconds % 3_600 != 0) {
            return seconds / 60 + "m";
        }
        // One and two days print as 24h and 48h, longer times as days.
        return seconds % 86_400 == 0 && seconds > 2 * 86_400 ? seconds / 86_400 + "d" : seconds / 3_600 + "h";
    }
}
