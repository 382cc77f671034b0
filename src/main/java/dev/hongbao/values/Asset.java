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

    /** The largest amount of one transfer (invariant I12): 10^14 - 1 minor units. */
    public static final long MAX_AMOUNT = 99_999_999_999_999L;

    public Asset {
        if (!PATTERN.matcher(code).matches()) {
            throw new IllegalArgumentException("an asset is 1 to 16 characters of " + PATTERN.pattern());
        }
    }

    /**
     * Checks the range of an amount.
     *
     * @return {@code amount}
     * @throws IllegalArgumentException outside 1 to {@link #MAX_AMOUNT}
     */
    public static long checkAmount(long amount) {
        if (amount < 1 || amount > MAX_AMOUNT) {
            throw new IllegalArgumentException("an amount is from 1 to " + MAX_AMOUNT + " minor units, not " + amount);
        }
        return amount;
    }

    @Override
    public String toString() {
        return code;
    }
}
