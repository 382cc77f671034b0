package dev.hongbao.tools.chaos.check;

/**
 * A call and its answer. Times are microseconds of the run's clock.
 *
 * @param number of the call, by start
 * @param endMicros of the answer, or of the client's patience
 */
public record Operation(long number, Call call, long startMicros, long endMicros, Answer answer) {
    @Override
    public String toString() {
        return String.format("%9.3f … %9.3f s  #%d %s → %s", startMicros / 1e6, endMicros / 1e6, number, call, answer);
    }
}
