package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.check.Operation;
import dev.hongbao.tools.chaos.check.Violation;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The result of a run.
 *
 * @param faultsByKind number of those that came
 */
public record ChaosResult(
        long seed,
        List<Operation> history,
        Map<String, Integer> faultsByKind,
        Rounds.Settling settling,
        List<Violation> violations) {
    /** More are only counted, above them. */
    private static final int SHOWN = 20;

    public boolean isSound() {
        return violations.isEmpty();
    }

    /** Number of injected faults. */
    public int faults() {
        return faultsByKind.values().stream().mapToInt(count -> count).sum();
    }

    /** Number of claims by answer. */
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

    /** For the terminal. */
    public String text() {
        StringBuilder text = new StringBuilder();
        row(text, "faults", faults());
        faultsByKind.forEach((kind, count) -> row(text, "  " + kind, count));
        text.append(String.format("%n%-44s %6s %9s %9s %9s%n", "settled again after, ms", "n", "p50", "p99", "max"));
        times(text, "all rounds that were not silent", settling.others());
        times(text, "all silent rounds", settling.silent());
        text.append(System.lineSeparator());
        row(text, "operations", history.size());
        row(text, "claims", claims().values().stream().mapToLong(count -> count).sum());
        claims().forEach((outcome, count) -> row(text, "  " + outcome, count));
        row(text, "violations", violations.size());
        violations.stream()
                .limit(SHOWN)
                .forEach(each -> text.append(System.lineSeparator()).append(each.text()));
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
