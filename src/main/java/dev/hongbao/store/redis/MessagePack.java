package dev.hongbao.store.redis;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Arrays of whole numbers as MessagePack. Redis' Lua unpacks them in C: 100 numbers take a tenth of the time of parsing text.
 * Pure.
 */
public final class MessagePack {
    private static final byte ARRAY_32 = (byte) 0xdd;
    private static final byte INT_64 = (byte) 0xd3;

    /** The largest sizes of an array header and of a number. */
    private static final int HEADER_BYTES = 5;

    private static final int NUMBER_BYTES = 9;

    private MessagePack() {}

    public static byte[] numbers(long... numbers) {
        ByteBuffer packed = ByteBuffer.allocate(HEADER_BYTES + numbers.length * NUMBER_BYTES);
        put(packed, numbers);
        return packed.array();
    }

    /**
     * An array of numbers and arrays of numbers.
     *
     * @param values {@code Long} or {@code long[]}
     * @throws IllegalArgumentException for any other value
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

    /**
     * Reads the output of Redis' Lua, or of this class.
     *
     * @return whole numbers as {@code Long}, arrays as {@code List}
     * @throws IllegalArgumentException for any other content
     */
    public static Object read(byte[] packed) {
        try {
            return read(ByteBuffer.wrap(packed));
        } catch (BufferUnderflowException tooShort) {
            throw new IllegalArgumentException("the text ends too early", tooShort);
        }
    }

    private static Object read(ByteBuffer in) {
        int type = in.get() & 0xff;
        if (type <= 0x7f || type >= 0xe0) {
            return (long) (byte) type;
        }
        if (type >= 0x90 && type <= 0x9f) {
            return list(in, type & 0xf);
        }
        return switch (type) {
            case 0xcc -> in.get() & 0xffL;
            case 0xcd -> in.getShort() & 0xffffL;
            case 0xce -> in.getInt() & 0xffff_ffffL;
            case 0xcf, 0xd3 -> in.getLong();
            case 0xd0 -> (long) in.get();
            case 0xd1 -> (long) in.getShort();
            case 0xd2 -> (long) in.getInt();
            case 0xdc -> list(in, in.getShort() & 0xffff);
            case 0xdd -> list(in, in.getInt());
            default -> throw new IllegalArgumentException("type " + type + " is neither a number nor an array");
        };
    }

    private static List<Object> list(ByteBuffer in, int size) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            values.add(read(in));
        }
        return values;
    }

    private static void put(ByteBuffer packed, long[] numbers) {
        packed.put(ARRAY_32).putInt(numbers.length);
        for (long number : numbers) {
            packed.put(INT_64).putLong(number);
        }
    }
}
