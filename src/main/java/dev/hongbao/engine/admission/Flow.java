package dev.hongbao.engine.admission;

/**
 * What came to a shard and what of it was settled: on one server, or on all together. Immutable.
 *
 * @param arrivals a second: what asked to be let in, whatever became of it
 * @param meant of them a second: what a server would let in by the chance that it has found by itself
 * @param admitted of them a second: what was let in
 * @param settled a second: what waited for its settlement and got it
 * @param coming what was let in and has no answer of the script yet; part of it will need no settlement
 * @param waiting what is accepted and not settled yet
 */
public record Flow(double arrivals, double meant, double admitted, double settled, double coming, double waiting) {
    /** Nothing came. */
    public static final Flow NONE = new Flow(0, 0, 0, 0, 0, 0);

    /** Both together. */
    public Flow plus(Flow other) {
        return new Flow(
                arrivals + other.arrivals,
                meant + other.meant,
                admitted + other.admitted,
                settled + other.settled,
                coming + other.coming,
                waiting + other.waiting);
    }

    /** Whether nothing came and nothing is left. */
    public boolean isNone() {
        return arrivals == 0 && settled == 0 && coming == 0 && waiting == 0;
    }
}
