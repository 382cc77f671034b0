package dev.hongbao.tools.chaos.check;

import java.util.Comparator;
import java.util.List;

/**
 * A broken rule.
 *
 * @param what what happened, with ids
 * @param history the operations that show it, by their start; empty if the rows alone show it
 */
public record Violation(Rule rule, String what, List<Operation> history) {
    private static final int MOST = 20;

    public Violation {
        history = history.stream()
                .sorted(Comparator.comparingLong(Operation::startMicros))
                .toList();
    }

    public Violation(Rule rule, String what, Operation... history) {
        this(rule, what, List.of(history));
    }

    /** The rule and the history, whose middle is left out if it is long. */
    public String text() {
        StringBuilder text = new StringBuilder(rule.sentence + ": " + what + "\n");
        for (int i = 0; i < history.size(); i++) {
            if (history.size() <= MOST || i < MOST / 2 || i >= history.size() - MOST / 2) {
                text.append("    ").append(history.get(i)).append('\n');
            } else if (i == MOST / 2) {
                text.append("    … ").append(history.size() - MOST).append(" more\n");
            }
        }
        return text.toString();
    }
}
