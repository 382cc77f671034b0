package dev.hongbao.tools.chaos.check;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The rules on what the host is told: everything, under ids that stay, and of one packet in its order. */
final class OutboxInvariants {
    static final String STABLE = "I16 an event keeps its id and what it says";
    static final String EVERYTHING = "I16 every settled fact is told";
    static final String DELIVERED = "I16 every event is delivered to the webhook";
    static final String ORDER = "I16 the events of a packet come in their order";

    private OutboxInvariants() {}

    /**
     * @param earlier what was read in the run, in any order, repeated or not
     * @param all what is read at the end, from the beginning
     * @param isWhole whether Postgres has forgotten nothing
     */
    static List<Violation> check(List<Told> earlier, List<Told> all, Rows rows, boolean isWhole) {
        List<Violation> found = new ArrayList<>();
        Map<String, Told> byId = new HashMap<>();
        Map<String, Integer> next = new HashMap<>();
        Set<String> told = new HashSet<>();
        for (Told each : all) {
            Told before = byId.putIfAbsent(each.id(), each);
            if (before != null && !before.equals(each)) {
                found.add(violation(STABLE, before + " is later " + each));
            }
            if (before == null) {
                inOrder(each, next, rows.pools(), found);
            }
            told.add(each.slot() < 0 ? each.type() + " " + each.packet() : each.packet() + " " + each.slot());
        }
        for (Told each : earlier) {
            boolean mayBeLost = !isWhole && !byId.containsKey(each.id());
            if (!mayBeLost && !each.equals(byId.get(each.id()))) {
                found.add(violation(STABLE, each + " is later " + byId.get(each.id())));
            }
        }
        for (Rows.Claim claim : rows.claims()) {
            expect(claim.packet() + " " + claim.slot(), told, found);
        }
        for (Rows.Packet packet : rows.packets()) {
            expect("packet.sent " + packet.id(), told, found);
            if (packet.refund() > 0) {
                expect("packet.refunded " + packet.id(), told, found);
            } else if (packet.closed()) {
                expect("packet.drained " + packet.id(), told, found);
            }
        }
        return found;
    }

    /** What the webhook, which is older than all events, has not got. */
    static List<Violation> delivered(List<Told> all, Set<String> ids) {
        return all.stream()
                .filter(each -> !ids.contains(each.id()))
                .map(each -> violation(DELIVERED, each + " is not"))
                .toList();
    }

    /** @param next of each packet the slot that comes next, once it was sent; -1 when it is over */
    private static void inOrder(
            Told event, Map<String, Integer> next, Map<String, Rows.Pool> pools, List<Violation> found) {
        if (event.packet().isEmpty()) {
            return;
        }
        if (event.type().equals("packet.sent")) {
            next.put(event.packet(), 0);
            return;
        }
        Rows.Pool pool = pools.get(event.packet());
        int expected = next.getOrDefault(event.packet(), pool != null && pool.isDrop() ? 0 : -1);
        if (expected < 0 || event.slot() >= 0 && event.slot() != expected) {
            found.add(violation(
                    ORDER, event + " comes " + (expected < 0 ? "before its packet, or after" : "at slot " + expected)));
        }
        boolean isOver = event.slot() < 0 && !event.type().equals("packet.expired"); // then packet.refunded comes
        next.put(event.packet(), isOver ? -1 : Math.max(expected, event.slot() + 1));
    }

    private static void expect(String fact, Set<String> told, List<Violation> found) {
        if (!told.contains(fact)) {
            found.add(violation(EVERYTHING, "nobody was told of " + fact));
        }
    }

    private static Violation violation(String rule, String what) {
        return new Violation(rule, what, List.of());
    }
}
