package dev.hongbao.domain.draw;

import dev.hongbao.engine.shard.Generation;

/** The names of draws' keys in Redis; what they hold is said in {@code play.lua}. */
public final class DrawKeys {
    private static final String HASH = "d";
    private static final String SCHEDULE = "m";

    /** A schedule's first member, with the score -inf: it is there as long as the schedule is. No release is called so. */
    static final String ON_SCHEDULE = "#";

    private DrawKeys() {}

    /** The hash of a draw. */
    public static String hash(Generation generation, DrawId draw) {
        return generation.key(HASH, draw.toString());
    }

    /** The sorted set of a draw's releases that are not taken. */
    public static String schedule(Generation generation, DrawId draw) {
        return generation.key(SCHEDULE, draw.toString());
    }

    /** The sorted set of attempts that the play script has decided lately: one a shard. */
    public static String attempts(Generation generation) {
        return generation.key("attempts");
    }

    /** What the hashes of a generation begin with; the draw's id follows. */
    static String hashPrefix(Generation generation) {
        return generation.key(HASH, "");
    }

    /** The same of the schedules. */
    static String schedulePrefix(Generation generation) {
        return generation.key(SCHEDULE, "");
    }
}
