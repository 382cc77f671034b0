package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** All rules at once. A pure function. */
public final class Checker {
    private Checker() {}

    /**
     * What clients saw.
     *
     * @param troubles when which server may have owed an answer
     * @param quietMicros from when on nothing is injected any more, by the run's clock, and nothing but repeats is asked for
     * @param earlier what the outbox told in the run
     * @param told what it tells at the end, from its beginning
     * @param delivered the ids of all events that the webhook's receiver has taken
     */
    public record Seen(
            List<Operation> history,
            List<Trouble> troubles,
            long quietMicros,
            List<Told> earlier,
            List<Told> told,
            Set<String> delivered) {}

    /** Which rules are broken, a violation for each case. */
    public static List<Violation> check(Seen seen, Rows rows) {
        List<Violation> found = new ArrayList<>();
        found.addAll(ClaimRules.check(seen.history, rows));
        found.addAll(CommandRules.check(seen.history, rows));
        found.addAll(WalletRules.check(seen.history, rows, seen.quietMicros));
        found.addAll(AnswerRules.check(seen.history, seen.troubles, seen.quietMicros));
        found.addAll(OutboxRules.check(seen.earlier, seen.told, rows));
        found.addAll(OutboxRules.delivered(seen.told, seen.delivered));
        return found;
    }
}
