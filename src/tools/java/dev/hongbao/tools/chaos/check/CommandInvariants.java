package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Answer.Verdict;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The rules on what is done under an idempotency key: sends, deposits, withdrawals and plays. */
final class CommandInvariants {
    static final String ONCE = "I6 a key does its command once";
    static final String SAME = "I6 the same key gets the same answer";
    static final String DONE = "I5 what was answered as done is in the books";
    static final String ASKED = "I3 somebody asked for every movement of money";

    private static final Set<Kind> BOOKED = Set.of(Kind.SEND, Kind.DEPOSIT, Kind.WITHDRAWAL);

    private CommandInvariants() {}

    static List<Violation> check(List<Operation> history, Rows rows) {
        List<Violation> found = new ArrayList<>();
        Map<String, List<Operation>> byKey = history.stream()
                .filter(each -> !each.call().key().isEmpty())
                .sorted(Comparator.comparingLong(Operation::endMicros))
                .collect(Collectors.groupingBy(each -> each.call().key()));
        Map<String, List<Rows.Command>> booked =
                rows.commands().stream().collect(Collectors.groupingBy(Rows.Command::key));
        byKey.forEach((key, asked) -> {
            sameAnswer(asked, found);
            if (BOOKED.contains(asked.get(0).call().kind())) {
                inTheBooks(asked, booked.getOrDefault(key, List.of()), found);
            }
        });
        booked.forEach((key, commands) -> {
            if (!byKey.containsKey(key)) {
                found.add(new Violation(ASKED, commands + " was never asked for", List.of()));
            }
        });
        return found;
    }

    private static void sameAnswer(List<Operation> asked, List<Violation> found) {
        Operation first = null;
        for (Operation each : asked) {
            if (first == null) {
                first = each.answer().isOk() ? each : null;
            } else if (each.answer().isOk()
                    && !each.answer().id().equals(first.answer().id())) {
                found.add(new Violation(SAME, "key " + each.call().key() + " made two things", List.of(first, each)));
            } else if (each.answer().verdict() == Verdict.REFUSED && each.startMicros() > first.endMicros()) {
                found.add(new Violation(
                        SAME, "key " + each.call().key() + " is refused what it has done", List.of(first, each)));
            }
        }
    }

    private static void inTheBooks(List<Operation> asked, List<Rows.Command> commands, List<Violation> found) {
        Operation one = asked.get(0);
        String key = one.call().key();
        String operation = one.call().kind().name().toLowerCase(Locale.ROOT);
        if (commands.size() > 1) {
            found.add(new Violation(ONCE, "key " + key + " is in the books as " + commands, asked));
        }
        boolean answered = asked.stream().anyMatch(each -> each.answer().isOk());
        if (answered && commands.isEmpty()) {
            found.add(new Violation(DONE, "key " + key + " is not in the books", asked));
        }
        for (Rows.Command each : commands) {
            if (!each.operation().equals(operation)
                    || each.amount() != one.call().amount()) {
                found.add(new Violation(DONE, "key " + key + " is in the books as " + each, asked));
            }
        }
        if (one.call().kind() == Kind.SEND && answered && !commands.isEmpty()) {
            String packet = commands.get(0).id();
            asked.stream()
                    .filter(each -> each.answer().isOk() && !each.answer().id().equals(packet))
                    .findFirst()
                    .ifPresent(each -> found.add(new Violation(DONE, "key " + key + " sent " + packet, asked)));
        }
        boolean open = asked.stream().anyMatch(each -> each.answer().verdict() == Verdict.UNKNOWN);
        if (!answered && !open && !commands.isEmpty()) {
            found.add(new Violation(DONE, "key " + key + " was refused each time, and is in the books", asked));
        }
    }
}
