package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.check.Call.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A small run in which all is right, to be forged: alice deposits 1,000, withdraws 100 and sends a packet of three shares; bob and carol claim,
 * bob twice; what is left is refunded. It is quiet from second 100 on.
 */
final class Forged {
    static final String PACKET = "packet-1";
    static final long QUIET = 100_000_000;

    final List<Operation> history = new ArrayList<>();
    final List<Seen.Trouble> troubles = new ArrayList<>();
    final List<Seen.Loss> losses = new ArrayList<>();
    final List<Rows.Packet> packets = new ArrayList<>();
    final List<Rows.Claim> claims = new ArrayList<>();
    final Map<String, Rows.Pool> pools = new HashMap<>();
    final List<Rows.Command> commands = new ArrayList<>();
    final Map<String, Long> balances = new HashMap<>();
    final Map<String, Long> plays = new HashMap<>();
    final List<Seen.Event> earlier = new ArrayList<>();
    final List<Seen.Event> events = new ArrayList<>();
    final List<Seen.Heard> heard = new ArrayList<>(List.of(
            new Seen.Heard(1, 7, "packet.sent packet-1", 9_000_000),
            new Seen.Heard(1, 9, "packet.progress packet-1", 9_000_000),
            new Seen.Heard(1, 10, "packet.expired packet-1", 9_000_000),
            new Seen.Heard(2, 7, "packet.sent packet-1", 9_000_000),
            new Seen.Heard(2, 10, "packet.expired packet-1", 9_000_000)));
    final Set<String> delivered = new HashSet<>(Set.of("e1", "e2", "e3", "e4"));

    Forged() {
        add(1, new Call(Kind.DEPOSIT, "alice", "", "d1", 1_000, 0), Answer.made(201, "1", 1_000));
        add(2, new Call(Kind.WITHDRAWAL, "alice", "", "w1", 100, 0), Answer.made(201, "2", 100));
        add(3, new Call(Kind.SEND, "alice", "3x10", "s1", 600, 0), Answer.made(201, PACKET, 600));
        add(4, Call.claim("bob", PACKET, 0), Answer.claimed(201, 0, 200));
        add(5, Call.claim("carol", PACKET, 1), Answer.unknown(503, "unknown"));
        add(6, Call.claim("carol", PACKET, 0), Answer.claimed(200, 1, 250));
        add(7, Call.claim("bob", PACKET, 1), Answer.claimed(200, 0, 200));
        add(8, Call.claim("dave", PACKET, 1), Answer.refused(410, "expired"));
        add(120, new Call(Kind.BALANCE, "bob", "", "", 0, 0), Answer.made(200, "", 200));
        packets.add(new Rows.Packet(PACKET, "alice", 150, true));
        claims.add(new Rows.Claim(PACKET, "bob", 0, 200));
        claims.add(new Rows.Claim(PACKET, "carol", 1, 250));
        commands.add(new Rows.Command("deposit", "d1", "c1", 1_000));
        commands.add(new Rows.Command("withdrawal", "w1", "c2", 100));
        commands.add(new Rows.Command("send", "s1", PACKET, 600));
        balances.putAll(Map.of("alice", 450L, "bob", 200L, "carol", 250L));
        events.add(packet("e1", "packet.sent"));
        events.add(claim("e2", 0));
        events.add(claim("e3", 1));
        events.add(packet("e4", "packet.refunded"));
        earlier.add(claim("e2", 0));
    }

    /** An operation of half a second. */
    void add(long second, Call call, Answer answer) {
        history.add(new Operation(history.size() + 1, call, second * 1_000_000, second * 1_000_000 + 500_000, answer));
    }

    static Seen.Event packet(String id, String type) {
        return new Seen.Event(id, type, PACKET, -1, type);
    }

    static Seen.Event claim(String id, int slot) {
        return new Seen.Event(id, "claim.settled", PACKET, slot, "slot " + slot);
    }

    List<Violation> check() {
        return Checker.check(
                new Seen(history, troubles, losses, QUIET, earlier, events, delivered, heard),
                new Rows(packets, claims, pools, commands, balances, plays));
    }
}
