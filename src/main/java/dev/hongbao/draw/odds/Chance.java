package dev.hongbao.draw.odds;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;

/**
 * A source of random numbers. All numbers below a bound have exactly the same probability: numbers in the incomplete last part of the range
 * are rejected. {@code play.lua} does the same with its given numbers.
 */
@FunctionalInterface
public interface Chance {
    /** 2^52, the range of a number. Lua's numbers are doubles, and remainders below 2^52 are exact in them. */
    long RANGE = 1L << 52;

    /** The largest bound. With it a number is rejected once in 4,500 times at most. 10^12 also leaves room for exact odds of 1 in 10^9. */
    long MAX_BOUND = 1_000_000_000_000L;

    /** The next number, 0 to {@link #RANGE} - 1, uniform and independent of the others. */
    long next();

    /**
     * A uniform number from 0 to {@code bound} - 1. A bound of 1 takes no number.
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

    /**
     * Independent moments, each uniform over the period's milliseconds.
     *
     * @param fromMillis the period's start, included
     * @param toMillis its end, excluded; after {@code fromMillis}, by less than 10^12 ms (31 years)
     * @param count 0 or more
     * @return in order of time
     */
    default long[] moments(long fromMillis, long toMillis, int count) {
        long[] moments = new long[count];
        for (int i = 0; i < count; i++) {
            moments[i] = fromMillis + below(toMillis - fromMillis);
        }
        Arrays.sort(moments);
        return moments;
    }

    /** Numbers from SecureRandom, read in blocks of some hundred. For simulations; a draw's numbers come from its seed. Not thread-safe. */
    static Chance secure() {
        SecureRandom random = new SecureRandom();
        byte[] bytes = new byte[2048];
        ByteBuffer buffer = ByteBuffer.wrap(bytes).position(bytes.length);
        return () -> {
            if (!buffer.hasRemaining()) {
                random.nextBytes(bytes);
                buffer.rewind();
            }
            return buffer.getLong() >>> 12;
        };
    }
}
