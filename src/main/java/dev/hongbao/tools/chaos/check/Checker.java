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
    public record Seen(List<Operation> history, Times times, long quietMicros, News news, List<Heard> heard) {}

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
    public record News(List<Told> earlier, List<Told> told, Set<String> delivered) {}

    /** Which rules are broken, a violation for each case. */
    public static List<Violation> check(Seen seen, Rows rows) {
        List<Violation> found = new ArrayList<>();
        boolean isWhole = seen.times.losses.isEmpty();
        List<Operation> kept = Loss.forgotten(seen.history, seen.times.losses);
        found.addAll(ClaimRules.check(kept, rows));
        found.addAll(CommandRules.check(kept, rows));
        found.addAll(WalletRules.check(kept, rows, seen.quietMicros));
        found.addAll(AnswerRules.check(
                seen.history, seen.times.troubles, seen.quietMicros, isWhole ? packet -> false : lost(rows)));
        found.addAll(OutboxRules.check(seen.news.earlier, seen.news.told, rows, isWhole));
        found.addAll(OutboxRules.delivered(seen.news.told, seen.news.delivered));
        found.addAll(FeedRules.check(seen.heard, seen.times.losses));
        return found;
    }

    /** Of packets: whether Postgres does not know them any more. */
    private static Predicate<String> lost(Rows rows) {
        Set<String> known = rows.packets().stream().map(Rows.Packet::id).collect(Collectors.toCollection(HashSet::new));
        known.addAll(rows.pools().keySet());
        return packet -> !known.contains(packet);
    }
}
