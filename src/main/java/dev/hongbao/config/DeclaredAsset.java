package dev.hongbao.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A declared asset: {@code CNY:2:¥}, {@code POINTS:0}.
 *
 * @param code 1 to 16 of A–Z, 0–9, {@code _} and {@code -}, a letter first
 * @param scale digits behind the point, 0 to 9
 * @param symbol 1 to 8 characters; the code's first eight unless given
 */
public record DeclaredAsset(String code, int scale, String symbol) {
    private static final int MAX_SYMBOL = 8;

    private static final Pattern TEXT = Pattern.compile("([A-Z][A-Z0-9_-]{0,15}):([0-9])(?::([^\\s:,]{1,8}))?");

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException when the text is not an asset
     */
    public static DeclaredAsset parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not code:scale or code:scale:symbol");
        }
        String code = matcher.group(1);
        String symbol = matcher.group(3);
        return new DeclaredAsset(
                code,
                Integer.parseInt(matcher.group(2)),
                symbol == null ? code.substring(0, Math.min(MAX_SYMBOL, code.length())) : symbol);
    }

    /** The text that {@link #parse} reads back as the same asset. */
    @Override
    public String toString() {
        return code + ":" + scale + ":" + symbol;
    }
}
