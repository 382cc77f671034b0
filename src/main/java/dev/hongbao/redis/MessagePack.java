package dev.hongbao.redis;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Arrays of whole numbers as MessagePack, which Redis' Lua unpacks at the speed of C: for 100 numbers that is ten times as fast
 * as reading them from text.
 */
public final class MessagePack {
    private static final byte ARRAY_32 = (byte) 0xdd;
    private static final byte INT_64 = (byte) 0xd3;

    /** The largest array header, and the largest number. */
    private static final int HEADER_BYTES = 5;

    private static final int NUMBER_BYTES = 9;

    private MessagePack() {}

    /** An array of numbers. */
    public static byte[] numbers(long... numbers) {
        ByteBuffer packed = ByteBuffer.allocate(HEADER_BYTES + numbers.length * NUMBER_BYTES);
        put(packed, numbers);
        return packed.array();
    }

    /**
     * An array of numbers and arrays of numbers.
     *
     * @param values {@code Long} or {@code long[]}
     * @throws IllegalArgumentException when a value is neither
     */
    public static byte[] array(List<?> values) {
        int size = HEADER_BYTES;
        for (Object value : values) {
            size += value instanceof long[] numbers ? HEADER_BYTES + numbers.length * NUMBER_BYTES : NUMBER_BYTES;
        }
        ByteBuffer packed = ByteBuffer.allocate(size);
        packed.put(ARRAY_32).putInt(values.size());
        for (Object value : values) {
            if (value instanceof long[] numbers) {
                put(packed, numbers);
            } else if (value instanceof Long number) {
                packed.put(INT_64).putLong(number);
            } else {
                throw new IllegalArgumentException("neither a number nor an array of numbers: " + value);
            }
        }
        return packed.array();
    }

    private static void put(ByteBuffer packed, long[] numbers) {
        packed.put(ARRAY_32).putInt(numbers.length);
        for (long number : numbers) {
            packed.put(INT_64).putLong(number);
        }
    }
}
