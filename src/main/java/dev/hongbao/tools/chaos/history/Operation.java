package dev.hongbao.tools.chaos.history;

/**
 * A call and what came of it.
 *
 * @param number of the call, in the order in which they began
 * @param startMicros when it began, of the run's clock
 * @param endMicros when its answer was there, or was given up
 */
public record Operation(long number, Call call, long startMicros, long endMicros, Answer answer) {
    /** A line for people. */
    @Override
    public String toString() {
        return String.format(
                "%9.3f … %9.3f s  #%d %s",
                startMicros / 1e6, endMicros / 1e6, number, text(call) + " → " + text(answer));
    }

    static String text(Call call) {
        return (call.kind().name().toLowerCase(java.util.Locale.ROOT) + " " + call.user() + " " + call.subject() + " "
                        + call.key() + (call.amount() == 0 ? "" : " " + call.amount()) + " at server " + call.server())
                .replaceAll(" +", " ");
    }

    static String text(Answer answer) {
        return (answer.verdict() + " " + answer.status() + " " + answer.problem() + " " + answer.id()
                        + (answer.slot() < 0 ? "" : " slot " + answer.slot())
                        + (answer.amount() == 0 ? "" : " amount " + answer.amount()))
                .replaceAll(" +", " ");
    }
}
