package dev.hongbao.tools.bench;

/**
 * How much a benchmark does.
 *
 * @param rounds that count; medians are told
 * @param percent of the usual size of a round; 100 unless time is short, next to nothing in a test
 */
record Scale(int rounds, int percent) {
    Scale {
        if (rounds < 1 || percent < 1 || percent > 100) {
            throw new IllegalArgumentException("a benchmark has a round at least, and 1 to 100 percent of its size");
        }
    }

    /** A size at this scale, a multiple of {@code unit} and at least that. */
    int of(int usual, int unit) {
        return Math.max(unit, (int) ((long) usual * percent / 100) / unit * unit);
    }

    /** A time at this scale, at least a second. */
    long millis(int usual) {
        return Math.max(1_000, (long) usual * percent / 100);
    }

    /** A fifth of it, for a round that does not count. */
    Scale warmUp() {
        return new Scale(1, Math.max(1, percent / 5));
    }
}
