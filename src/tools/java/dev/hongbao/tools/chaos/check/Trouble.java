package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Operation;
import java.util.List;

/**
 * A time in which a server, or the way to it, could not answer everybody, since a fault was injected right there.
 *
 * @param toMicros of the run's clock, as {@code fromMicros}
 */
public record Trouble(int server, long fromMicros, long toMicros) {
    /** Whether some trouble excuses that the operation was not answered. */
    public static boolean excuses(List<Trouble> troubles, Operation operation) {
        return troubles.stream()
                .anyMatch(each -> each.server == operation.call().server()
                        && each.fromMicros <= operation.endMicros()
                        && each.toMicros >= operation.startMicros());
    }
}
