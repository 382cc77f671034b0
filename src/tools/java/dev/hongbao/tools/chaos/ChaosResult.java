package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Trouble;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a run has shown.
 *
 * @param settledMicros by kind of fault, for each that was injected: from the end of its round's faults until every shard settled at every
 *     server
 * @param settling the same of whole rounds
 * @param violations the rules that were broken
 */
public record ChaosResult(
        long seed,
        List<Operation> history,
        List<Trouble> troubles,
        Map<String, List<Long>> settledMicros,
        Rounds.Settling settling,
        List<Violation> violations) {
    /** More are counted and not shown. */
    private static final int SHOWN = 20;

    /** Whether every promise was kept. */
    public boolean isSound() {
        return violations.isEmpty();
    }

    /** How many faults were injected. */
    public int faults() {
        return settledMicros.values().stream().mapToInt(List::size).sum();
    }

    /** Claims by what was answered, a name each. */
    public Map<String, Long> claims() {
        return history.stream()
                .filter(each -> each.call().kind() == Kind.CLAIM)
                .collect(Collectors.groupingBy(each -> outcome(each.answer()), TreeMap::new, Collectors.counting()));
    }

    private static String outcome(Answer answer) {
        return switch (answer.status()) {
            case 201 -> "claimed";
            case 200 -> "already claimed";
            case 0 -> "no answer: " + answer.problem();
            default -> answer.problem();
        };
    }

    /** Of the calls to servers that nothing was done to, and whose line to their clients was whole: the part with a definite answer, 0 to 1. */
    double availability() {
        long asked = 0;
        long known = 0;
        for (Operation each : history) {
            if (!Trouble.excuses(troubles, each)) {
                asked++;
                known += each.answer().verdict() == Answer.Verdict.UNKNOWN ? 0 : 1;
            }
        }
        return asked == 0 ? 1 : known / (double) asked;
    }

    /** For the terminal. */
    public String text() {
        StringBuilder text = new StringBuilder();
        row(text, "faults", faults());
        text.append(String.format("%n%-44s %6s %9s %9s %9s%n", "settled again after, ms", "n", "p50", "p99", "max"));
        settledMicros.forEach((kind, micros) -> times(text, kind, micros));
        times(text, "all rounds in which nobody fell silent", settling.others());
        times(text, "all rounds in which somebody did", settling.silent());
        text.append(System.lineSeparator());
        row(text, "operations", history.size());
        row(text, "claims", claims().values().stream().mapToLong(count -> count).sum());
        claims().forEach((outcome, count) -> row(text, "  " + outcome, count));
        text.append(String.format(
                Locale.ROOT, "%-44s %6.2f %%%n", "definite answers from servers that are well", 100 * availability()));
        row(text, "violations", violations.size());
        violations.stream()
                .limit(SHOWN)
                .forEach(each -> text.append(System.lineSeparator()).append(each.text()));
        if (violations.size() > SHOWN) {
            text.append("and ")
                    .append(violations.size() - SHOWN)
                    .append(" more")
                    .append(System.lineSeparator());
        }
        row(text, "seed", seed);
        return text.toString();
    }

    private static void times(StringBuilder text, String name, List<Long> micros) {
        if (!micros.isEmpty()) {
            List<Long> sorted = micros.stream().sorted().toList();
            text.append(String.format(
                    "  %-42s %6d %9d %9d %9d%n",
                    name, sorted.size(), millis(sorted, 50), millis(sorted, 99), Collections.max(sorted) / 1_000));
        }
    }

    private static long millis(List<Long> sorted, int percent) {
        return sorted.get((sorted.size() - 1) * percent / 100) / 1_000;
    }

    private static void row(StringBuilder text, String name, long value) {
        text.append(String.format("%-44s %d%n", name, value));
    }
}
