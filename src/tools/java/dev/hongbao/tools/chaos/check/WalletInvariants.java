package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The rule on money: a wallet holds what its owner was given less what he gave, counted from what was asked for. */
final class WalletInvariants {
    static final String ADDS_UP = "I4 a wallet holds what its owner was given less what he gave";
    static final String TOLD = "I4 the balance that is told is the one in the books";

    private WalletInvariants() {}

    /** @param quietMicros from when on nothing moves any more */
    static List<Violation> check(List<Operation> history, Rows rows, long quietMicros) {
        Map<String, Long> expected = new HashMap<>(rows.plays());
        Map<String, Call> calls = new HashMap<>();
        history.forEach(each -> calls.put(each.call().key(), each.call()));
        for (Rows.Command command : rows.commands()) {
            Call call = calls.get(command.key());
            if (call != null) {
                long sign = call.kind() == Kind.DEPOSIT ? 1 : -1;
                expected.merge(call.user(), sign * call.amount(), Math::addExact);
            }
        }
        rows.claims().forEach(claim -> expected.merge(claim.user(), claim.amount(), Math::addExact));
        rows.packets().forEach(packet -> expected.merge(packet.sender(), packet.refund(), Math::addExact));
        Set<String> users = new TreeSet<>(expected.keySet());
        users.addAll(rows.balances().keySet());
        List<Violation> found = new ArrayList<>();
        for (String user : users) {
            long has = rows.balances().getOrDefault(user, 0L);
            long should = expected.getOrDefault(user, 0L);
            if (has != should) {
                found.add(new Violation(ADDS_UP, user + " holds " + has + " and should hold " + should, List.of()));
            }
        }
        for (Operation each : history) {
            if (each.call().kind() == Kind.BALANCE
                    && each.startMicros() >= quietMicros
                    && each.answer().isOk()) {
                long has = rows.balances().getOrDefault(each.call().user(), 0L);
                if (each.answer().amount() != has) {
                    found.add(new Violation(TOLD, each.call().user() + " holds " + has, List.of(each)));
                }
            }
        }
        return found;
    }
}
