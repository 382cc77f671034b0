package dev.hongbao.draw;

import dev.hongbao.engine.Generation;
import dev.hongbao.values.DrawId;

/** Names of draws' keys in Redis; {@code play.lua} describes their contents. */
final class DrawKeys {
    private static final String HASH = "d";
    private static final String SCHEDULE = "m";

    /**
     * A mark in every schedule, with the score -inf, and in every set of decided attempts, with +inf: a set without it is lost. No release
     * and no attempt has this name.
     */
    static final String MARK = "#";

    private DrawKeys() {}

    /** The hash of a draw. */
    public static String hash(Generation generation, DrawId draw) {
        return generation.key(HASH, draw.toString());
    }

    /** The sorted set of a draw's untaken releases. */
    public static String schedule(Generation generation, DrawId draw) {
        return generation.key(SCHEDULE, draw.toString());
    }

    /** The sorted set of attempts recently decided by the play script, one a shard. */
    public static String attempts(Generation generation) {
        return generation.key("attempts");
    }

    /** The prefix of a generation's draw hashes; the draw's id follows. */
    static String hashPrefix(Generation generation) {
        return generation.key(HASH, "");
    }

    /** The prefix of a generation's schedules; the draw's id follows. */
    static String schedulePrefix(Generation generation) {
        return generation.key(SCHEDULE, "");
    }
}
