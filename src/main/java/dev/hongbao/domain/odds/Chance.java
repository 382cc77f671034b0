package dev.hongbao.domain.odds;

/**
 * A source of random numbers. Every bounded number has the same probability exactly: numbers from the incomplete last part of
 * the range are thrown away (rejection sampling), as {@code play.lua} does with the numbers it is given.
 */
@FunctionalInterface
public interface Chance {
    /** 2^52: the range of a number. Lua's numbers are doubles, in which remainders below it are exact. */
    long RANGE = 1L << 52;

    /**
     * The largest bound: with it a number is thrown away once in 4,500 times. 10^12 is also what makes odds of 1 in 10^9
     * exact with room to spare.
     */
    long MAX_BOUND = 1_000_000_000_000L;

    /** The next number, 0 to {@link #RANGE} - 1, each with the same probability, independent of the others. */
    long next();

    /**
     * A number from 0 to {@code bound} - 1. A bound of 1 takes none.
     *
     * @param bound 1 to {@link #MAX_BOUND}
     */
    default long below(long bound) {
        if (bound < 1 || bound > MAX_BOUND) {
            throw new IllegalArgumentException("a bound is from 1 to " + MAX_BOUND + ", not " + bound);
        }
        if (bound == 1) {
            return 0;
        }
        long limit = RANGE - RANGE % bound;
        long number = next();
        while (number >= limit) {
            number = next();
        }
        return number % bound;
    }
}
