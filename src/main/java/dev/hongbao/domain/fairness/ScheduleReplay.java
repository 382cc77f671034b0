package dev.hongbao.domain.fairness;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Moments;
import dev.hongbao.domain.odds.SeededChance;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The releases of a scheduled draw, with the moments that its seed gives, and who took them. Not thread-safe. */
final class ScheduleReplay {
    private final DrawDefinition definition;
    private final SeededChance chance;
    private final Map<Slot, Long> changed = new HashMap<>();
    private final Map<Slot, long[]> moments = new HashMap<>();
    private final Set<Taken> taken = new HashSet<>();
    private final Map<UserId, Player> players = new HashMap<>();

    /** A prize in a period. */
    private record Slot(int period, int prize) {}

    private record Taken(Slot slot, int release) {}

    /** What a user has had. */
    private static final class Player {
        private long plays;
        private long day = Long.MIN_VALUE;
        private long playsToday;
        private final Map<Integer, Integer> wins = new HashMap<>();
    }

    /** @param quotas that differ from the definition's */
    ScheduleReplay(DrawDefinition definition, SeededChance chance, List<Fields> quotas) {
        this.definition = definition;
        this.chance = chance;
        quotas.forEach(
                quota -> changed.put(new Slot(quota.integer("period"), quota.integer("prize")), quota.number("quota")));
    }

    /** What is wrong with a play; null when nothing is. */
    @Nullable
    String fault(UserId user, Instant at, int number, Fields play) {
        String beyond = beyondLimits(user, at, number);
        if (beyond != null) {
            return beyond;
        }
        if (play.object().getValue("period") == null) {
            return definition.fallback() != null
                            && number == definition.allPrizes().size()
                    ? null
                    : "gave prize " + number + " without a release";
        }
        int period = play.integer("period");
        int release = play.integer("release");
        if (number > definition.prizes().size() || period < 0 || period >= definition.periods()) {
            return "took a release that cannot be";
        }
        Slot slot = new Slot(period, number);
        long[] scattered = moments.computeIfAbsent(slot, this::scattered);
        if (release < 1 || release > scattered.length) {
            return "took release " + release + " of " + scattered.length + " in period " + period;
        }
        if (!taken.add(new Taken(slot, release))) {
            return "took a release that was taken before";
        }
        return definition.guarantees().isEmpty() && at.toEpochMilli() < scattered[release - 1]
                ? "took at " + at + " what the seed releases at " + Instant.ofEpochMilli(scattered[release - 1])
                : null;
    }

    private @Nullable String beyondLimits(UserId user, Instant at, int number) {
        Player player = players.computeIfAbsent(user, name -> new Player());
        long day = Math.max(definition.dayOf(at), player.day);
        player.playsToday = day == player.day ? player.playsToday + 1 : 1;
        player.day = day;
        player.plays++;
        int wins = player.wins.merge(number, 1, Integer::sum);
        int perUser = definition.allPrizes().get(number - 1).perUser();
        DrawDefinition.Limits limits = definition.limits();
        return limits.total() > 0 && player.plays > limits.total()
                        || limits.perDay() > 0 && player.playsToday > limits.perDay()
                        || perUser > 0 && wins > perUser
                ? "is more than the limits allow"
                : null;
    }

    private long[] scattered(Slot slot) {
        return Moments.of(chance, definition, slot.period, slot.prize, changed.get(slot));
    }
}
