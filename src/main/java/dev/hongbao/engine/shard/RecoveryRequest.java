package dev.hongbao.engine.shard;

import org.jspecify.annotations.Nullable;

/**
 * A server's word to a shard's owner that something in Redis is missing. The owner looks before it believes it.
 *
 * @param stamp of the generation in which it was missing
 * @param key the key that is missing though Postgres says that its packet or draw is open; null when scripts or the journal are
 *     missing; {@link #FAULT}
 */
public record RecoveryRequest(
        int shard, String stamp, @Nullable String key) {
    /** In place of a key: a script failed in a way that it never should, maybe after its first write. */
    public static final String FAULT = "!";

    /** The Postgres channel on which owners listen. */
    public static final String CHANNEL = "hongbao_recovery";

    /** The epoch of the generation; -1 when the stamp is none of ours. */
    public long epoch() {
        int from = stamp.indexOf("}:") + 2;
        int to = stamp.indexOf('-', from);
        try {
            return from < 2 || to < 0 ? -1 : Long.parseLong(stamp, from, to, 10);
        } catch (NumberFormatException foreign) {
            return -1;
        }
    }

    String encode() {
        return shard + " " + stamp + (key == null ? "" : " " + key);
    }

    /** Null when the text is none of ours. */
    public static @Nullable RecoveryRequest decode(String text) {
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
