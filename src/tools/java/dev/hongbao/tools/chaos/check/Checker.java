package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.check.Seen.Event;
import dev.hongbao.tools.chaos.check.Seen.Heard;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks a run. A pure function. */
public final class Checker {
    private static final Set<String> NOT_NOW = Set.of("unknown", "overloaded", "stopping");

    private static final Map<Kind, Set<String>> REFUSALS = Map.of(
            Kind.CLAIM, Set.of("drained", "expired", "limited"),
            Kind.SEND, Set.of("insufficient-funds"),
            Kind.DEPOSIT, Set.of(),
            Kind.WITHDRAWAL, Set.of("insufficient-funds"),
            Kind.PLAY, Set.of("insufficient-funds", "exhausted"),
            Kind.POOL, Set.of("budget-spent"),
            Kind.BALANCE, Set.of());

    private static final Set<Kind> BOOKED = Set.of(Kind.SEND, Kind.DEPOSIT, Kind.WITHDRAWAL);

    /** A newer event of these types replaces an older one, even before any listener receives that. */
    private static final List<String> CUMULATIVE = List.of("packet.progress ", "rain.caught ");

    private final Seen seen;
    private final Rows rows;

    /** By end; the answers within a {@link Loss} are unknown. */
    private final List<Operation> history;

    private final List<Violation> found = new ArrayList<>();

    private Checker(Seen seen, Rows rows) {
        this.seen = seen;
        this.rows = rows;
        this.history = seen.history().stream()
                .map(this::withoutLosses)
                .sorted(Comparator.comparingLong(Operation::endMicros))
                .toList();
    }

    /** @return a violation for each case; empty if every rule holds */
    public static List<Violation> check(Seen seen, Rows rows) {
        Checker checker = new Checker(seen, rows);
        checker.claims();
        checker.commands();
        checker.wallets();
        checker.answers();
        checker.outbox();
        checker.feeds();
        return checker.found;
    }

    private Operation withoutLosses(Operation each) {
        boolean isLost = seen.losses().stream()
                .anyMatch(loss -> each.endMicros() >= loss.fromMicros() && each.startMicros() <= loss.toMicros());
        Answer answer = isLost ? Answer.unknown(each.answer().status(), "maybe lost") : each.answer();
        return new Operation(each.number(), each.call(), each.startMicros(), each.endMicros(), answer);
    }

    private void claims() {
        Map<String, Rows.Claim> settled = new HashMap<>();
        Map<String, Integer> ofCampaign = new HashMap<>();
        rows.claims().forEach(row -> settled.put(row.user() + " on " + row.packet(), row));
        Map<String, List<Operation>> asked = history.stream()
                .filter(each -> each.call().kind() == Kind.CLAIM)
                .collect(Collectors.groupingBy(
                        each -> each.call().user() + " on " + each.call().subject()));
        Map<String, Operation> winners = new HashMap<>();
        asked.forEach((claim, its) -> {
            Operation first = stays(Rule.SAME_CLAIM, claim, its);
            if (first == null) {
                return;
            }
            Rows.Claim row = settled.get(claim);
            if (row == null) {
                found.add(new Violation(Rule.SETTLED, claim + " has no claim in the database", its));
            } else if (row.slot() != first.answer().slot()
                    || row.amount() != first.answer().amount()) {
                found.add(new Violation(Rule.SETTLED, claim + " has in the database " + row, its));
            }
            for (Operation each : its) {
                String slot =
                        "slot " + each.answer().slot() + " of " + each.call().subject();
                Operation other = each.answer().isOk() ? winners.putIfAbsent(slot, each) : null;
                if (other != null && !other.call().user().equals(each.call().user())) {
                    found.add(new Violation(Rule.ONE_WINNER, slot + " went to two", other, each));
                }
            }
        });
        rows.claims().forEach(row -> {
            if (!asked.containsKey(row.user() + " on " + row.packet())) {
                found.add(new Violation(Rule.CLAIMED, row + " has no request"));
            }
            Rows.Pool pool = rows.pools().get(row.packet());
            if (pool != null
                    && ofCampaign.merge(row.user() + " " + pool.campaign(), 1, Integer::sum) == pool.limit() + 1) {
                found.add(new Violation(
                        Rule.LIMITED, row.user() + " has more than " + pool.limit() + " of " + pool.campaign()));
            }
        });
    }

    /**
     * Every answer after the first success is the same success; only a call that began before it may be refused.
     *
     * @param asked the same claim or command, by end
     * @return the first success; null for none
     */
    private @Nullable Operation stays(Rule rule, String what, List<Operation> asked) {
        Operation first = null;
        for (Operation each : asked) {
            Answer answer = each.answer();
            if (first == null) {
                first = answer.isOk() ? each : null;
            } else if (answer.isOk()
                    && (!answer.id().equals(first.answer().id())
                            || answer.slot() != first.answer().slot()
                            || answer.amount() != first.answer().amount())) {
                found.add(new Violation(rule, what + " has another answer than before", first, each));
            } else if (answer.verdict() == Answer.Verdict.REFUSED && each.startMicros() > first.endMicros()) {
                found.add(new Violation(rule, what + " is refused after a success", first, each));
            }
        }
        return first;
    }

    private void commands() {
        Map<String, List<Operation>> byKey = history.stream()
                .filter(each -> !each.call().key().isEmpty())
                .collect(Collectors.groupingBy(each -> each.call().key()));
        Map<String, List<Rows.Command>> booked =
                rows.commands().stream().collect(Collectors.groupingBy(Rows.Command::key));
        byKey.forEach((key, asked) -> {
            Operation first = stays(Rule.SAME_COMMAND, "key " + key, asked);
            if (BOOKED.contains(asked.get(0).call().kind())) {
                inTheBooks(asked, first, booked.getOrDefault(key, List.of()));
            }
        });
        booked.forEach((key, commands) -> {
            if (!byKey.containsKey(key)) {
                found.add(new Violation(Rule.REQUESTED, commands + " has no request"));
            }
        });
    }

    private void inTheBooks(List<Operation> asked, @Nullable Operation first, List<Rows.Command> commands) {
        Call call = asked.get(0).call();
        String key = "key " + call.key();
        if (commands.size() > 1) {
            found.add(new Violation(Rule.ONCE, key + " is in the books as " + commands, asked));
        }
        if (first != null && commands.isEmpty()) {
            found.add(new Violation(Rule.DONE, key + " is not in the books", asked));
        }
        for (Rows.Command each : commands) {
            boolean isOther = first != null
                    && call.kind() == Kind.SEND
                    && !first.answer().id().equals(each.id());
            if (isOther
                    || !each.operation().equals(call.kind().name().toLowerCase(Locale.ROOT))
                    || each.amount() != call.amount()) {
                found.add(new Violation(Rule.DONE, key + " is in the books as " + each, asked));
            }
        }
        if (first == null
                && !commands.isEmpty()
                && asked.stream().noneMatch(each -> each.answer().isUnknown())) {
            found.add(new Violation(Rule.DONE, key + " was always refused, and is in the books", asked));
        }
    }

    private void wallets() {
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
        for (String user : users) {
            long has = balance(user);
            long should = expected.getOrDefault(user, 0L);
            if (has != should) {
                found.add(new Violation(Rule.ADDS_UP, user + " holds " + has + " and should hold " + should));
            }
        }
        for (Operation each : history) {
            String user = each.call().user();
            if (each.call().kind() == Kind.BALANCE
                    && each.startMicros() >= seen.quietMicros()
                    && each.answer().isOk()
                    && each.answer().amount() != balance(user)) {
                found.add(new Violation(Rule.BALANCE, user + " holds " + balance(user), each));
            }
        }
    }

    private long balance(String user) {
        return rows.balances().getOrDefault(user, 0L);
    }

    private void answers() {
        Set<String> packets = rows.packets().stream().map(Rows.Packet::id).collect(Collectors.toSet());
        packets.addAll(rows.pools().keySet());
        for (Operation each : seen.history()) {
            boolean isHostile = each.call().kind() == Kind.HOSTILE;
            switch (each.answer().verdict()) {
                case OK -> {
                    if (isHostile) {
                        found.add(new Violation(Rule.REFUSED, "it was done", each));
                    }
                }
                case REFUSED -> {
                    String problem = each.answer().problem();
                    boolean isOfLostPacket = !seen.losses().isEmpty()
                            && each.call().kind() == Kind.CLAIM
                            && problem.equals("not-found")
                            && !packets.contains(each.call().subject());
                    if (!isHostile
                            && !isOfLostPacket
                            && !REFUSALS.getOrDefault(each.call().kind(), Set.of())
                                    .contains(problem)) {
                        found.add(new Violation(Rule.CLOSED_SET, "not a refusal of this call", each));
                    }
                }
                case UNKNOWN -> unknown(each);
            }
        }
    }

    private void unknown(Operation each) {
        if (each.startMicros() >= seen.quietMicros()) {
            found.add(new Violation(Rule.DEFINITE, "unknown after the faults", each));
        } else if (each.answer().status() == 0) {
            if (!Seen.excuses(seen.troubles(), each)) {
                found.add(new Violation(Rule.ANSWERED, "no answer", each));
            }
        } else if (each.answer().status() != 503
                || !NOT_NOW.contains(each.answer().problem())) {
            found.add(new Violation(Rule.CLOSED_SET, "not an answer of any call", each));
        }
    }

    private void outbox() {
        Map<String, Event> byId = new HashMap<>();
        Map<String, Integer> next = new HashMap<>();
        Set<String> facts = new HashSet<>();
        for (Event each : seen.events()) {
            Event before = byId.putIfAbsent(each.id(), each);
            if (before == null) {
                inOrder(each, next);
            } else if (!before.equals(each)) {
                found.add(new Violation(Rule.SAME_EVENT, before + " is later " + each));
            }
            if (!seen.delivered().contains(each.id())) {
                found.add(new Violation(Rule.DELIVERED, each + " is not delivered"));
            }
            facts.add(each.slot() < 0 ? each.type() + " " + each.packet() : each.packet() + " " + each.slot());
        }
        for (Event each : seen.earlier()) {
            Event later = byId.get(each.id());
            boolean mayBeLost = later == null && !seen.losses().isEmpty();
            if (!mayBeLost && !each.equals(later)) {
                found.add(new Violation(Rule.SAME_EVENT, each + " is later " + later));
            }
        }
        Set<String> settled = new TreeSet<>();
        rows.claims().forEach(claim -> settled.add(claim.packet() + " " + claim.slot()));
        for (Rows.Packet packet : rows.packets()) {
            settled.add("packet.sent " + packet.id());
            if (packet.refund() > 0) {
                settled.add("packet.refunded " + packet.id());
            } else if (packet.closed()) {
                settled.add("packet.drained " + packet.id());
            }
        }
        settled.removeAll(facts);
        settled.forEach(fact -> found.add(new Violation(Rule.EVERY_EVENT, "no event for " + fact)));
    }

    /** @param next the next slot of each packet that is open; -1 after its end */
    private void inOrder(Event event, Map<String, Integer> next) {
        String packet = event.packet();
        if (packet.isEmpty()) {
            return;
        }
        if (event.type().equals("packet.sent")) {
            next.put(packet, 0);
            return;
        }
        Rows.Pool pool = rows.pools().get(packet);
        int expected = next.getOrDefault(packet, pool != null && pool.isDrop() ? 0 : -1);
        if (expected < 0 || event.slot() >= 0 && event.slot() != expected) {
            found.add(new Violation(
                    Rule.EVENT_ORDER,
                    event + " comes "
                            + (expected < 0 ? "before its packet, or after its end" : "at slot " + expected)));
        }
        boolean isOver = event.slot() < 0 && !event.type().equals("packet.expired"); // packet.refunded follows
        next.put(packet, isOver ? -1 : Math.max(expected, event.slot() + 1));
    }

    private void feeds() {
        Map<Long, SortedMap<Long, Heard>> stretches = new HashMap<>();
        TreeMap<Long, Heard> all = new TreeMap<>();
        Set<List<Long>> received = new HashSet<>();
        for (Heard each : seen.heard()) {
            received.add(List.of(each.stretch(), each.cursor()));
            if (seen.losses().stream()
                    .anyMatch(loss -> each.micros() >= loss.fromMicros() && each.micros() <= loss.toMicros())) {
                continue;
            }
            SortedMap<Long, Heard> before = stretches.computeIfAbsent(each.stretch(), first -> new TreeMap<>());
            if (!before.isEmpty() && before.lastKey() >= each.cursor()) {
                found.add(new Violation(Rule.FEED_ONCE, each + " comes after " + before.get(before.lastKey())));
            }
            before.put(each.cursor(), each);
            Heard other = all.putIfAbsent(each.cursor(), each);
            if (other != null && !other.fact().equals(each.fact())) {
                found.add(new Violation(Rule.FEED_SAME, other + " is also " + each));
            }
        }
        stretches.forEach((stretch, its) -> all.subMap(its.firstKey(), its.lastKey())
                .values()
                .forEach(event -> {
                    if (!received.contains(List.of(stretch, event.cursor()))
                            && CUMULATIVE.stream().noneMatch(event.fact()::startsWith)) {
                        found.add(new Violation(
                                Rule.FEED_WHOLE,
                                event + " is missing between " + its.firstKey() + " and " + its.lastKey()));
                    }
                }));
    }
}
