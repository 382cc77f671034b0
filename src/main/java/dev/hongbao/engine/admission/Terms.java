package dev.hongbao.engine.admission;

/**
 * On which terms a server lets claims and plays of a shard in, until the next tick. Immutable.
 *
 * @param chance of each, 0 to 1
 * @param most that this server may have unsettled; {@link Long#MAX_VALUE} while nothing is known
 * @param matter the part of those let in who will have to be settled, 0 to 1
 */
record Terms(double chance, long most, double matter) {
    /** Everybody is let in. */
    static final Terms OPEN = new Terms(1, Long.MAX_VALUE, 1);

    /** Seconds over which those come back who are refused though everybody has a chance of 1: a queue is full for a moment. */
    private static final int LEAST_SPREAD = 2;

    /** Nobody is sent away for longer: a rain would be over. */
    static final int MOST_SPREAD = 10;

    /** Whether a count of what is unsettled has to be looked at. */
    boolean isBounded() {
        return most != Long.MAX_VALUE;
    }

    /**
     * Over how many seconds those who are refused now are to come back: as many as it takes to settle what comes in one.
     */
    int spreadSeconds() {
        return (int) Math.max(LEAST_SPREAD, Math.min(MOST_SPREAD, Math.ceil(1 / Math.max(chance, 1e-9))));
    }
}
