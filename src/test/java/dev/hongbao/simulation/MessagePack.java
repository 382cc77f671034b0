package dev.hongbao.simulation;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.lib.OneArgFunction;

/** Redis' {@code cmsgpack}, for numbers, texts and arrays. */
final class MessagePack {
    private MessagePack() {}

    static LuaTable library() {
        LuaTable library = new LuaTable();
        library.set("pack", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue value) {
                return LuaString.valueOf(pack(value));
            }
        });
        library.set("unpack", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue packed) {
                LuaString text = packed.checkstring();
                return unpack(ByteBuffer.wrap(text.m_bytes, text.m_offset, text.m_length));
            }
        });
        return library;
    }

    static byte[] pack(LuaValue value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(out, value);
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, LuaValue value) {
        if (value instanceof LuaString text) {
            length(out, text.m_length, 0xa0, 31, 0xd9);
            out.write(text.m_bytes, text.m_offset, text.m_length);
        } else if (value.istable()) {
            int size = value.length();
            length(out, size, 0x90, 15, -1);
            for (int i = 1; i <= size; i++) {
                write(out, value.get(i));
            }
        } else {
            number(out, value.checkdouble());
        }
    }

    private static void length(ByteArrayOutputStream out, int length, int few, int most, int one) {
        if (length <= most) {
            out.write(few | length);
        } else if (one > 0 && length <= 0xff) {
            out.write(one);
            out.write(length);
        } else if (length <= 0xffff) {
            out.write(one > 0 ? 0xda : 0xdc);
            bytes(out, length, 2);
        } else {
            out.write(one > 0 ? 0xdb : 0xdd);
            bytes(out, length, 4);
        }
    }

    private static void number(ByteArrayOutputStream out, double number) {
        long whole = (long) number;
        if (whole != number) {
            boolean isShort = (float) number == number;
            out.write(isShort ? 0xca : 0xcb);
            bytes(
                    out,
                    isShort ? Float.floatToIntBits((float) number) : Double.doubleToLongBits(number),
                    isShort ? 4 : 8);
        } else if (whole >= -32 && whole <= 127) {
            out.write((int) whole);
        } else {
            boolean isNegative = whole < 0;
            int size = isNegative
                    ? whole >= Byte.MIN_VALUE ? 1 : whole >= Short.MIN_VALUE ? 2 : whole >= Integer.MIN_VALUE ? 4 : 8
                    : whole <= 0xff ? 1 : whole <= 0xffff ? 2 : whole <= 0xffff_ffffL ? 4 : 8;
            out.write((isNegative ? 0xd0 : 0xcc) + Integer.numberOfTrailingZeros(size));
            bytes(out, whole, size);
        }
    }

    private static void bytes(ByteArrayOutputStream out, long value, int size) {
        for (int i = size - 1; i >= 0; i--) {
            out.write((int) (value >> 8 * i));
        }
    }

    private static LuaValue unpack(ByteBuffer in) {
        int kind = in.get() & 0xff;
        if (kind <= 0x7f) {
            return LuaValue.valueOf(kind);
        } else if (kind >= 0xe0) {
            return LuaValue.valueOf((byte) kind);
        } else if (kind >= 0xa0 && kind <= 0xbf) {
            return text(in, kind & 31);
        } else if (kind >= 0x90 && kind <= 0x9f) {
            return array(in, kind & 15);
        }
        return switch (kind) {
            case 0xc0 -> LuaValue.NIL;
            case 0xc2 -> LuaValue.FALSE;
            case 0xc3 -> LuaValue.TRUE;
            case 0xca -> LuaValue.valueOf(in.getFloat());
            case 0xcb -> LuaValue.valueOf(in.getDouble());
            case 0xcc -> LuaValue.valueOf(in.get() & 0xff);
            case 0xcd -> LuaValue.valueOf(in.getShort() & 0xffff);
            case 0xce -> LuaValue.valueOf((double) (in.getInt() & 0xffff_ffffL));
            case 0xcf, 0xd3 -> LuaValue.valueOf((double) in.getLong());
            case 0xd0 -> LuaValue.valueOf(in.get());
            case 0xd1 -> LuaValue.valueOf(in.getShort());
            case 0xd2 -> LuaValue.valueOf(in.getInt());
            case 0xd9 -> text(in, in.get() & 0xff);
            case 0xda -> text(in, in.getShort() & 0xffff);
            case 0xdc -> array(in, in.getShort() & 0xffff);
            case 0xdd -> array(in, in.getInt());
            default -> throw new LuaError("Bad data format in input.");
        };
    }

    private static LuaString text(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return LuaString.valueOf(bytes);
    }

    private static LuaTable array(ByteBuffer in, int size) {
        LuaTable table = new LuaTable(size, 0);
        for (int i = 1; i <= size; i++) {
            table.set(i, unpack(in));
        }
        return table;
    }
}
