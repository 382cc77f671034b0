package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Answer.Verdict;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The rules on claims: what was answered is what is settled, and stays so. */
final class ClaimInvariants {
    static final String SETTLED = "I5 what was answered as settled is settled";
    static final String SAME = "I6 every later answer is the first settled one";
    static final String ONE_SLOT = "I2 a slot has one winner";
    static final String LIMITED = "a user has as many shares of a campaign as one may";
    static final String ASKED = "I5 who has a share has claimed it";

    private final List<Operation> claims;
    private final Map<String, Map<String, Rows.Claim>> settled = new HashMap<>();
    private final List<Violation> found = new ArrayList<>();

    private ClaimInvariants(List<Operation> history, Rows rows) {
        claims = history.stream()
                .filter(each -> each.call().kind() == Kind.CLAIM)
                .sorted(Comparator.comparingLong(Operation::endMicros))
                .toList();
        for (Rows.Claim row : rows.claims()) {
            settled.computeIfAbsent(row.packet(), packet -> new HashMap<>()).put(row.user(), row);
        }
    }

    static List<Violation> check(List<Operation> history, Rows rows) {
        ClaimInvariants rules = new ClaimInvariants(history, rows);
        rules.answersStay();
        rules.slotsHaveOneWinner();
        rules.winnersHaveAsked(rows);
        rules.limitsHold(rows);
        return rules.found;
    }

    private void answersStay() {
        Map<String, List<Operation>> ofUser = claims.stream()
                .collect(Collectors.groupingBy(
                        each -> key(each.call().subject(), each.call().user())));
        ofUser.values().forEach(this::answersStay);
    }

    /** @param asked all claims of one user on one packet, in the order of ends */
    private void answersStay(List<Operation> asked) {
        Operation first = null;
        for (Operation each : asked) {
            if (first == null) {
                first = each.answer().isOk() ? each : null;
            } else if (each.answer().isOk() && !same(first, each)) {
                found.add(new Violation(SAME, about(each) + " got another claim than before", List.of(first, each)));
            } else if (each.answer().verdict() == Verdict.REFUSED && each.startMicros() > first.endMicros()) {
                found.add(new Violation(SAME, about(each) + " is refused what he has", List.of(first, each)));
            }
        }
        if (first != null) {
            Rows.Claim row = row(first.call().subject(), first.call().user());
            if (row == null) {
                found.add(new Violation(SETTLED, about(first) + " has no claim in the database", asked));
            } else if (row.slot() != first.answer().slot()
                    || row.amount() != first.answer().amount()) {
                found.add(new Violation(SETTLED, about(first) + " has in the database " + row, asked));
            }
        }
    }

    private static boolean same(Operation one, Operation other) {
        return one.answer().slot() == other.answer().slot()
                && one.answer().amount() == other.answer().amount();
    }

    private void slotsHaveOneWinner() {
        Map<String, Operation> winners = new HashMap<>();
        for (Operation each : claims) {
            if (each.answer().isOk()) {
                Operation other = winners.putIfAbsent(
                        key(
                                each.call().subject(),
                                Integer.toString(each.answer().slot())),
                        each);
                if (other != null && !other.call().user().equals(each.call().user())) {
                    found.add(new Violation(
                            ONE_SLOT,
                            "slot " + each.answer().slot() + " of "
                                    + each.call().subject() + " went to two",
                            List.of(other, each)));
                }
            }
        }
    }

    private void winnersHaveAsked(Rows rows) {
        Set<String> asked = claims.stream()
                .map(each -> key(each.call().subject(), each.call().user()))
                .collect(Collectors.toCollection(HashSet::new));
        for (Rows.Claim row : rows.claims()) {
            if (!asked.contains(key(row.packet(), row.user()))) {
                found.add(new Violation(ASKED, row + " was never asked for", List.of()));
            }
        }
    }

    private void limitsHold(Rows rows) {
        Map<String, Integer> has = new HashMap<>();
        for (Rows.Claim row : rows.claims()) {
            Rows.Pool pool = rows.pools().get(row.packet());
            if (pool != null && has.merge(key(pool.campaign(), row.user()), 1, Integer::sum) == pool.limit() + 1) {
                found.add(new Violation(
                        LIMITED, row.user() + " has more than " + pool.limit() + " of " + pool.campaign(), List.of()));
            }
        }
    }

    private Rows.@Nullable Claim row(String packet, String user) {
        return Objects.requireNonNullElse(settled.get(packet), Map.<String, Rows.Claim>of())
                .get(user);
    }

    private static String about(Operation claim) {
        return claim.call().user() + " on " + claim.call().subject();
    }

    private static String key(String packet, String other) {
        return packet + " " + other;
    }
}
