package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Heard;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.List;

/**
 * A time out of which nothing has to be kept: Postgres was restored to what it was at its beginning (I13). What was answered in it may be so or
 * not, and is told again or not.
 *
 * @param toMicros of the run's clock, as {@code fromMicros}
 */
public record Loss(long fromMicros, long toMicros) {
    /** The operations, those of such times as if nobody knew what became of them. */
    static List<Operation> forgotten(List<Operation> history, List<Loss> losses) {
        return history.stream()
                .map(each -> losses.stream().anyMatch(loss -> loss.includes(each)) ? forgotten(each) : each)
                .toList();
    }

    /** The events, without those that were heard in such times. */
    static List<Heard> kept(List<Heard> heard, List<Loss> losses) {
        return heard.stream()
                .filter(each -> losses.stream()
                        .noneMatch(loss -> each.micros() >= loss.fromMicros && each.micros() <= loss.toMicros))
                .toList();
    }

    private boolean includes(Operation operation) {
        return operation.endMicros() >= fromMicros && operation.startMicros() <= toMicros;
    }

    private static Operation forgotten(Operation each) {
        Answer unknown = Answer.unknown(each.answer().status(), "maybe lost");
        return new Operation(each.number(), each.call(), each.startMicros(), each.endMicros(), unknown);
    }
}
