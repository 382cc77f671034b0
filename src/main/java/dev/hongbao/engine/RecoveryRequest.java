package dev.hongbao.engine;

import dev.hongbao.engine.Shards.Symptom;
import org.jspecify.annotations.Nullable;

/**
 * A server's report to a shard's owner of a symptom in Redis. Immutable.
 *
 * @param stamp of the generation in which it was seen
 */
record RecoveryRequest(int shard, String stamp, Symptom symptom) {
    /** Stands for a failed script in the place of a missing key; no key has this name. */
    private static final String FAILED = "!";

    /** The Postgres channel on which owners listen. */
    public static final String CHANNEL = "hongbao_recovery";

    /** The epoch of the generation; -1 for a foreign stamp. */
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
        String seen = shard + " " + stamp;
        return switch (symptom.kind()) {
            case FENCED -> seen;
            case FAILED -> seen + " " + FAILED;
            case MISSING -> seen + " " + symptom.key();
        };
    }

    /** Returns the request; null for foreign text. */
    public static @Nullable RecoveryRequest decode(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length < 2 || parts.length > 3) {
            return null;
        }
        try {
            return new RecoveryRequest(Integer.parseInt(parts[0]), parts[1], symptom(parts));
        } catch (NumberFormatException malformed) {
            return null;
        }
    }

    private static Symptom symptom(String[] parts) {
        if (parts.length == 2) {
            return Symptom.FENCED;
        }
        return parts[2].equals(FAILED) ? Symptom.FAILED : Symptom.missing(parts[2]);
    }
}
