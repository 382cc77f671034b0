package dev.hongbao.engine.admission;

/**
 * What came to a shard and what of it was settled: on one server, or on all together. Immutable.
 *
 * @param arrivals claims a second that asked to be let in, whatever became of them
 * @param admitted those of them a second that were let in
 * @param settled claims a second that waited for their settlement and got it
 * @param backlog claims that were let in and are not settled yet
 */
public record Flow(double arrivals, double admitted, double settled, double backlog) {
    /** Nothing came. */
    public static final Flow NONE = new Flow(0, 0, 0, 0);

    /** Both together. */
    public Flow plus(Flow other) {
        return new Flow(
                arrivals + other.arrivals, admitted + other.admitted, settled + other.settled, backlog + other.backlog);
    }

    /** Whether nothing came and nothing is left. */
    public boolean isNone() {
        return arrivals == 0 && settled == 0 && backlog == 0;
    }
}
