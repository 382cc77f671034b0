package dev.hongbao.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Frames of HTTP/2 (RFC 9113) and fields of HPACK (RFC 7541) as bytes, which may be right or not. For one thread. */
final class Http2Bytes {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PUSH_PROMISE = 5;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int ACK = 1;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    static final int PADDED = 8;
    static final int WITH_PRIORITY = 0x20;

    static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int SETTING_BYTES = 6;
    private static final int MOST_IN_SEVEN_BITS = 127;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Http2Bytes raw(byte... bytes) {
        out.writeBytes(bytes);
        return this;
    }

    Http2Bytes frame(int type, int flags, int stream, byte... payload) {
        return frameOf(payload.length, type, flags, stream, payload);
    }

    /** @param length as it is told, which may be another one than there is */
    Http2Bytes frameOf(int length, int type, int flags, int stream, byte... payload) {
        out.writeBytes(
                new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length, (byte) type, (byte) flags});
        out.writeBytes(number(stream));
        return raw(payload);
    }

    /** A field that is not to be remembered, without Huffman's code. */
    Http2Bytes field(String name, String value) {
        out.write(0);
        return text(name).text(value);
    }

    private Http2Bytes text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return length(bytes.length).raw(bytes);
    }

    /** With a prefix of seven bits, without Huffman's bit. */
    private Http2Bytes length(int length) {
        out.write(Math.min(length, MOST_IN_SEVEN_BITS));
        if (length >= MOST_IN_SEVEN_BITS) {
            int rest = length - MOST_IN_SEVEN_BITS;
            for (; rest > MOST_IN_SEVEN_BITS; rest >>= 7) {
                out.write(0x80 | rest & 0x7f);
            }
            out.write(rest);
        }
        return this;
    }

    /** One setting in a payload. */
    static byte[] setting(int id, long value) {
        return ByteBuffer.allocate(SETTING_BYTES)
                .putShort((short) id)
                .putInt((int) value)
                .array();
    }

    /** Four bytes. */
    static byte[] number(long value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt((int) value).array();
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
