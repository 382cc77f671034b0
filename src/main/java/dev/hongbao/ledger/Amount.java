package dev.hongbao.ledger;

/** The range of an amount (invariant I12): whole minor units, more than 0 and less than 10^14. */
public final class Amount {
    /** The largest amount of one transfer: 10^14 - 1 minor units. */
    public static final long MAX = 99_999_999_999_999L;

    private Amount() {}

    /**
     * Checks the range.
     *
     * @return {@code amount}
     * @throws IllegalArgumentException outside 1 to {@link #MAX}
     */
    public static long check(long amount) {
        if (amount < 1 || amount > MAX) {
            throw new IllegalArgumentException("an amount is from 1 to " + MAX + " minor units, not " + amount);
        }
        return amount;
    }
}
