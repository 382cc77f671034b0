package dev.hongbao.packet;

import dev.hongbao.values.Named;
import java.util.Locale;

/** The kind of packet, chosen by the sender. */
public enum PacketKind implements Named {
    /** 拼手气红包: random amounts, by one of the random splits. */
    LUCKY,
    /** 普通红包: equal amounts; the count must divide the total. */
    EQUAL,
    /** 专属红包: only the named recipients may claim; any split. */
    EXCLUSIVE;

    /** @throws IllegalArgumentException for an unknown kind */
    public static PacketKind of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }
}
