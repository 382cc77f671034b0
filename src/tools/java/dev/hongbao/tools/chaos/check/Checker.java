package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Heard;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** All rules at once. A pure function. */
public final class Checker {
    private Checker() {}

    /**
     * What clients saw.
     *
     * @param times of which less is promised
     * @param quietMicros from when on nothing is injected any more, by the run's clock, and nothing but repeats is asked for
     * @param heard what clients heard of the group's feed over sockets
     */
    public record Seen(List<Operation> history, Times times, long quietMicros, Outbox outbox, List<Heard> heard) {}

    /**
     * When less is promised.
     *
     * @param troubles when which server may have owed an answer
     * @param losses when Postgres forgot
     */
    public record Times(List<Trouble> troubles, List<Loss> losses) {}

    /**
     * What the host was told.
     *
     * @param earlier what the outbox told in the run
     * @param told what it tells at the end, from its beginning
     * @param delivered the ids of all events that the webhook's receiver has taken
     */
    public record Outbox(List<Told> earlier, List<Told> told, Set<String> delivered) {}

    /** Which rules are broken, a violation for each case. */
    public static List<Violation> check(Seen seen, Rows rows) {
        List<Violation> found = new ArrayList<>();
        boolean isWhole = seen.times.losses.isEmpty();
        List<Operation> kept = Loss.forgotten(seen.history, seen.times.losses);
        found.addAll(ClaimInvariants.check(kept, rows));
        found.addAll(CommandInvariants.check(kept, rows));
        found.addAll(WalletInvariants.check(kept, rows, seen.quietMicros));
        found.addAll(AnswerInvariants.check(
                seen.history, seen.times.troubles, seen.quietMicros, isWhole ? packet -> false : lost(rows)));
        found.addAll(OutboxInvariants.check(seen.outbox.earlier, seen.outbox.told, rows, isWhole));
        found.addAll(OutboxInvariants.delivered(seen.outbox.told, seen.outbox.delivered));
        found.addAll(FeedInvariants.check(seen.heard, seen.times.losses));
        return found;
    }

    /** Of packets: whether Postgres does not know them any more. */
    private static Predicate<String> lost(Rows rows) {
        Set<String> known = rows.packets().stream().map(Rows.Packet::id).collect(Collectors.toCollection(HashSet::new));
        known.addAll(rows.pools().keySet());
        return packet -> !known.contains(packet);
    }
}
