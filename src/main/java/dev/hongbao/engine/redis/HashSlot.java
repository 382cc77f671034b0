package dev.hongbao.engine.redis;

import java.nio.charset.StandardCharsets;

/** The slot of a key in a cluster, as in the Redis Cluster specification. Pure. */
final class HashSlot {
    static final int COUNT = 16_384;

    private static final int POLYNOMIAL = 0x1021;

    private HashSlot() {}

    /** The slot of the key's hash tag; of the whole key if it has none. */
    static int of(String key) {
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open + 1);
        return crc16(close > open + 1 ? key.substring(open + 1, close) : key) & COUNT - 1;
    }

    /** CRC-16/XMODEM. */
    private static int crc16(String text) {
        int crc = 0;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            crc ^= (each & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
        }
        return crc & 0xffff;
    }
}
