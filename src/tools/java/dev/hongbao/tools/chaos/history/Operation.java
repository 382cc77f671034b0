package dev.hongbao.tools.chaos.history;

import java.util.Locale;

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
        return call.kind().name().toLowerCase(Locale.ROOT)
                + part(call.user())
                + part(call.subject())
                + part(call.key())
                + (call.amount() == 0 ? "" : " " + call.amount())
                + " at server "
                + call.server();
    }

    static String text(Answer answer) {
        return answer.verdict()
                + part(Integer.toString(answer.status()))
                + part(answer.problem())
                + part(answer.id())
                + (answer.slot() < 0 ? "" : " slot " + answer.slot())
                + (answer.amount() == 0 ? "" : " amount " + answer.amount());
    }

    private static String part(String text) {
        return text.isEmpty() ? "" : " " + text;
    }
}
