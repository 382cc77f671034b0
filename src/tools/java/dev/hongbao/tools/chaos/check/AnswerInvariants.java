package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The rules on answers: which there are, and that there is one. */
final class AnswerInvariants {
    static final String CLOSED_SET = "I7 answers are of a closed set";
    static final String ANSWERED = "every request is answered within its time";
    static final String HOSTILE = "what nobody may do is refused";
    static final String QUIET = "I11 when faults are over every call has a definite answer";

    private static final Set<String> NOT_NOW = Set.of("unknown", "overloaded", "stopping");

    private static final Map<Kind, Set<String>> REFUSALS = Map.of(
            Kind.CLAIM, Set.of("drained", "expired", "limited"),
            Kind.SEND, Set.of("insufficient-funds"),
            Kind.DEPOSIT, Set.of(),
            Kind.WITHDRAWAL, Set.of("insufficient-funds"),
            Kind.PLAY, Set.of("insufficient-funds", "exhausted"),
            Kind.POOL, Set.of("budget-spent"),
            Kind.BALANCE, Set.of());

    private AnswerInvariants() {}

    /** @param lost of packets: whether a claim may find none */
    static List<Violation> check(
            List<Operation> history, List<Trouble> troubles, long quietMicros, Predicate<String> lost) {
        List<Violation> found = new ArrayList<>();
        for (Operation each : history) {
            switch (each.answer().verdict()) {
                case OK -> {
                    if (each.call().kind() == Kind.HOSTILE) { // what others say is for the other rules
                        found.add(new Violation(HOSTILE, "was done", List.of(each)));
                    }
                }
                case REFUSED -> {
                    if (each.call().kind() != Kind.HOSTILE
                            && !isOfLost(each, lost)
                            && !allowed(each).contains(each.answer().problem())) {
                        found.add(new Violation(CLOSED_SET, "refused as nobody should be", List.of(each)));
                    }
                }
                case UNKNOWN -> unknown(each, troubles, quietMicros, found);
            }
        }
        return found;
    }

    private static boolean isOfLost(Operation each, Predicate<String> lost) {
        return each.call().kind() == Kind.CLAIM
                && each.answer().problem().equals("not-found")
                && lost.test(each.call().subject());
    }

    private static Set<String> allowed(Operation operation) {
        return REFUSALS.getOrDefault(operation.call().kind(), Set.of());
    }

    private static void unknown(Operation each, List<Trouble> troubles, long quietMicros, List<Violation> found) {
        if (each.startMicros() >= quietMicros) {
            found.add(new Violation(QUIET, "not known in quiet times", List.of(each)));
        } else if (!each.answer().isAnswered()) {
            if (!Trouble.excuses(troubles, each)) {
                found.add(new Violation(ANSWERED, "no answer from a server that is well", List.of(each)));
            }
        } else if (each.answer().status() != 503
                || !NOT_NOW.contains(each.answer().problem())) {
            found.add(new Violation(CLOSED_SET, "an answer that nobody should get", List.of(each)));
        }
    }
}
