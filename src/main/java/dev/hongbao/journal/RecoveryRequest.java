package dev.hongbao.journal;

import org.jspecify.annotations.Nullable;

/**
 * A server's word to a shard's owner that something in Redis is missing. The owner looks before it believes it.
 *
 * @param stamp of the generation in which it was missing
 * @param packet the packet whose key is missing though Postgres says it is open; null when scripts or the journal are; {@link
 *     #FAULT}
 */
record RecoveryRequest(int shard, String stamp, @Nullable String packet) {
    /** In place of a packet: a script failed in a way that it never should, maybe after its first write. */
    static final String FAULT = "!";

    /** The Postgres channel on which owners listen. */
    static final String CHANNEL = "hongbao_recovery";

    String encode() {
        return shard + " " + stamp + (packet == null ? "" : " " + packet);
    }

    /** Null when the text is none of ours. */
    static @Nullable RecoveryRequest decode(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length < 2 || parts.length > 3) {
            return null;
        }
        try {
            return new RecoveryRequest(Integer.parseInt(parts[0]), parts[1], parts.length == 3 ? parts[2] : null);
        } catch (NumberFormatException malformed) {
            return null;
        }
    }
}
