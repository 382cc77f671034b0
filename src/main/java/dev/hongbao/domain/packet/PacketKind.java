package dev.hongbao.domain.packet;

import java.util.Locale;

/** What kind of packet the sender chose. */
public enum PacketKind {
    /** 拼手气红包: random amounts, by one of the random splits. */
    LUCKY,
    /** 普通红包: equal amounts; the total must divide. */
    EQUAL,
    /** 专属红包: only the named recipients may claim; amounts by any split. */
    EXCLUSIVE;

    /** The name in the API and in the tables. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * @throws IllegalArgumentException when there is no such kind
     */
    public static PacketKind of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }
}
