package dev.hongbao.values;

import java.util.regex.Pattern;

/**
 * An asset: {@code CNY} in fen, {@code POINTS}, {@code COUPON-SHOES}, any code. Amounts are always whole minor units.
 *
 * @param code 1 to 16 upper-case ASCII letters, digits, underscores and hyphens, a letter first
 */
public record Asset(String code) {
    /** Without line ends: a line of a commitment contains a code. */
    public static final Pattern PATTERN = Pattern.compile("[A-Z][A-Z0-9_-]{0,15}");

    public Asset {
        if (!PATTERN.matcher(code).matches()) {
            throw new IllegalArgumentException("an asset is 1 to 16 characters of " + PATTERN.pattern());
        }
    }

    @Override
    public String toString() {
        return code;
    }
}
