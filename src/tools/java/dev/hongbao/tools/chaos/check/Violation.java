package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Operation;
import java.util.Comparator;
import java.util.List;

/**
 * A rule that was broken.
 *
 * @param rule the invariant's name and what it says
 * @param what how it was broken, with ids
 * @param history the operations that show it, in the order of their beginnings; empty when the rows alone do
 */
public record Violation(String rule, String what, List<Operation> history) {
    private static final int MOST = 20;

    public Violation {
        history = history.stream()
                .sorted(Comparator.comparingLong(Operation::startMicros))
                .toList();
    }

    /** For people: the rule, and the history around it, cut in its middle when it is long. */
    public String text() {
        StringBuilder text = new StringBuilder(rule + ": " + what + "\n");
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
