package dev.hongbao.common.config;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as people write them in the configuration: a whole number and one of {@code B}, {@code KiB}, {@code MiB}. */
final class SizeText {
    private static final Pattern PATTERN = Pattern.compile("(\\d{1,10})(b|kib|mib)");
    private static final int KIB = 1_024;
    private static final int MIB = KIB * KIB;

    private SizeText() {}

    /**
     * Bytes.
     *
     * @throws IllegalArgumentException when it is no such text or more than an int holds
     */
    static int parse(String text) {
        Matcher matcher = PATTERN.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a size is a whole number and a unit: 512B, 64KiB, 1MiB");
        }
        long unit = switch (matcher.group(2)) {
            case "b" -> 1L;
            case "kib" -> (long) KIB;
            default -> (long) MIB;
        };
        long bytes = Long.parseLong(matcher.group(1)) * unit;
        if (bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a size is at most 2047MiB");
        }
        return (int) bytes;
    }

    static String print(int bytes) {
        if (bytes == 0 || bytes % KIB != 0) {
            return bytes + "B";
        }
        return bytes % MIB == 0 ? bytes / MIB + "MiB" : bytes / KIB + "KiB";
    }
}
