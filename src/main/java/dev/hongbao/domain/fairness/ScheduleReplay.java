package dev.hongbao.domain.fairness;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.domain.odds.DefinitionChecks;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.DrawModel;
import dev.hongbao.domain.odds.DrawModel.Release;
import dev.hongbao.domain.odds.Moments;
import dev.hongbao.domain.odds.SeededChance;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The schedule of a replayed draw: the releases on it at each play, at the seed's moments. The server puts a period on it some time before
 * its start, and each play names the last one. Not thread-safe.
 */
final class ScheduleReplay {
    /** The most releases on the schedule: half a gigabyte. */
    private static final int MAX_RELEASED = 5_000_000;

    private final DrawDefinition definition;
    private final DrawDefinition.Schedule schedule;
    private final SeededChance chance;
    private final DrawModel model;
    private final Map<Slot, Long> changed = new HashMap<>();
    private final long[] used;
    /** The planned number of each prize, by period. */
    private final TreeMap<Integer, int[]> planned = new TreeMap<>();

    private int loaded = -1;
    private long early;

    /** A prize in a period. */
    private record Slot(int period, int prize) {}

    /**
     * @param model receives the releases
     * @param quotas that differ from the definition
     */
    ScheduleReplay(DrawDefinition definition, SeededChance chance, DrawModel model, List<Fields> quotas) {
        this.definition = definition;
        this.schedule = Objects.requireNonNull(definition.schedule());
        this.chance = chance;
        this.model = model;
        this.used = new long[definition.prizes().size()];
        quotas.forEach(
                quota -> changed.put(new Slot(quota.integer("period"), quota.integer("prize")), quota.number("quota")));
    }

    /**
     * The next period.
     *
     * @return its contradiction; null for none
     */
    @Nullable
    String period(Fields line) {
        int period = line.integer("period");
        int last = planned.isEmpty() ? -1 : planned.lastKey();
        if (period <= last || period >= definition.periods()) {
            throw line.fault("period", "must be more than " + last + " and less than " + definition.periods());
        }
        int[] counts = counts(line);
        planned.put(period, counts);
        String wrong = schedule.carryOver() && period > last + 1 ? "period " + (last + 1) + " was not planned" : null;
        for (int i = 0; i < counts.length; i++) {
            Long own = changed.get(new Slot(period, i + 1));
            long most = own == null ? definition.quota(definition.prizes().get(i), period) : own;
            most = Math.max(0, Math.min(most, DefinitionChecks.MAX_RELEASES));
            long left = Objects.requireNonNull(definition.prizes().get(i).stock()) - used[i];
            long least = Math.max(0, Math.min(most, left));
            // Without carry-over, untaken releases have returned to the stock.
            if (counts[i] < least || counts[i] > (schedule.carryOver() ? least : most)) {
                wrong = "period " + period + " has " + counts[i] + " of prize " + (i + 1)
                        + ", the quota and the stock give " + least
                        + (schedule.carryOver() ? "" : " to " + most);
            }
            counts[i] = (int) Math.min(counts[i], most);
            used[i] += counts[i];
        }
        return wrong;
    }

    private int[] counts(Fields line) {
        List<Long> counts = line.numbers("planned");
        if (counts.size() != used.length
                || counts.stream().anyMatch(count -> count < 0 || count > DefinitionChecks.MAX_RELEASES)) {
            throw line.fault("planned", "must be " + used.length + " counts of prizes");
        }
        return counts.stream().mapToInt(Long::intValue).toArray();
    }

    /**
     * Puts the releases of a play's time on the schedule.
     *
     * @return a contradiction; null for none
     */
    @Nullable
    String load(Instant at, Fields play) {
        int seen = play.integer("loaded");
        if (seen < loaded) {
            return "had the schedule up to period " + seen + ", a play before it up to " + loaded;
        }
        if (seen > loaded && !planned.containsKey(seen)) {
            return "had period " + seen + " on its schedule, which was not planned";
        }
        planned.subMap(loaded, false, seen, true).forEach(this::release);
        loaded = seen;
        if (seen + 1 < definition.periods() && !at.isBefore(definition.periodStart(seen + 1))) {
            early++;
        }
        return null;
    }

    private void release(int period, int[] counts) {
        if (!schedule.carryOver()) {
            // Releases of long ended periods cannot be taken.
            model.withdraw(definition.periodStart(Math.max(0, period - 2)).toEpochMilli());
        }
        for (int prize = 1; prize <= counts.length; prize++) {
            long[] moments = counts[prize - 1] == 0 ? new long[0] : moments(period, prize);
            for (int n = 1; n <= counts[prize - 1]; n++) {
                model.release(new Release(period, prize, n), moments[n - 1]);
            }
        }
        if (model.released() > MAX_RELEASED) {
            throw InvalidInputException.of(
                    "#draw", Text.plain("has more than " + MAX_RELEASED + " prizes on its schedule at a time"));
        }
    }

    private long[] moments(int period, int prize) {
        return Moments.of(chance, definition, period, prize, changed.get(new Slot(period, prize)));
    }

    /** The release of a play; null for none. */
    @Nullable
    Release taken(int prize, Fields play) {
        return play.object().getValue("period") == null
                ? null
                : new Release(play.integer("period"), prize, play.integer("release"));
    }

    /** The reason why a play cannot have taken a release that the model does not give. */
    String wrong(Release taken, Instant at) {
        int[] counts = taken.period() > loaded ? null : planned.get(taken.period());
        if (counts == null
                || taken.prize() > counts.length
                || taken.number() < 1
                || taken.number() > counts[taken.prize() - 1]) {
            return "which was not on the schedule";
        }
        long moment = moments(taken.period(), taken.prize())[taken.number() - 1];
        if (moment > at.toEpochMilli()) {
            return "which the seed releases at " + Instant.ofEpochMilli(moment);
        }
        return model.has(taken, moment) ? "which was not the next" : "which was given before";
    }

    /** Plays before their own period was on the schedule: the server planned late. */
    long early() {
        return early;
    }
}
