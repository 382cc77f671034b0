package dev.hongbao.fairness;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.DrawModel.Release;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a closed draw, play by play, with its seed's numbers and moments, with stocks, limits and guarantees. A contradiction may cause
 * further ones. Not thread-safe.
 */
final class DrawReplay implements Evidence.Proof {
    /** The most contradictions kept; a reader needs no more. */
    private static final int MAX_FAULTS = 1_000;

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private final UUID id;
    private final DrawDefinition definition;
    private final String commitment;
    private final Seed.Numbers chance;
    private final DrawModel model;
    private final @Nullable ScheduleReplay schedule;
    private final long[] won;
    private final long[] issued;
    private final List<String> faults = new ArrayList<>();
    private final Set<UUID> turns = new HashSet<>();

    private long plays;
    private @Nullable Turn turn;

    /** The plays of one request, which are consecutive. */
    private record Turn(UUID id, UserId user, Instant at, int plays) {}

    private DrawReplay(Fields view) {
        this.id = view.uuid("id");
        String told = view.seed("draw", "no play can follow");
        this.commitment = view.hex64("commitment");
        this.definition = definition(view.object("definition"));
        Seed seed = new Seed(HexFormat.of().parseHex(told));
        String digest = seed.commitment(id, definition);
        if (!digest.equals(commitment)) {
            fault("the commitment is " + commitment + ", the seed and the definition give " + digest);
        }
        this.chance = seed.chance();
        this.won = new long[definition.allPrizes().size()];
        this.issued = issued(view.object("finalTable"));
        this.model = new DrawModel(definition.rules(), chance);
        this.schedule = definition.mode() == DrawDefinition.Mode.SCHEDULE
                ? new ScheduleReplay(definition, chance, model, view.objects("quotas"))
                : null;
    }

    /** @param view the closed draw, as the service role sees it */
    static DrawReplay of(JsonObject view) {
        return new DrawReplay(new Fields("#draw", view));
    }

    private static DrawDefinition definition(Fields given) {
        DrawDefinition definition;
        try {
            // As plain maps and lists, for the reader.
            definition = DrawDefinition.readStored(new JsonObject(given.object().encode()).getMap());
            definition.require();
        } catch (InvalidInputException wrong) {
            FieldFault first = wrong.faults().get(0);
            throw InvalidInputException.of(given.place() + first.pointer().substring(1), first.detail());
        } catch (RuntimeException impossible) {
            throw InvalidInputException.of(given.place(), Text.plain("cannot be: " + impossible.getMessage()));
        }
        if (definition.opensAt() == null) {
            throw given.fault("opensAt", "is required");
        }
        return definition;
    }

    private long[] issued(Fields table) {
        List<Fields> prizes = table.objects("prizes");
        if (prizes.size() != won.length) {
            throw table.fault("prizes", "must be the " + won.length + " of the definition");
        }
        return prizes.stream().mapToLong(prize -> prize.number("issued")).toArray();
    }

    /** @param line of the export: a period of the schedule; all come before the plays */
    void period(JsonObject line) {
        Fields period = new Fields("#period", line);
        if (!period.uuid("draw").equals(id) || schedule == null || plays > 0) {
            throw period.fault("draw", "must be " + id + ", which must have a schedule, and come before its plays");
        }
        String wrong = schedule.period(period);
        if (wrong != null) {
            fault(wrong);
        }
    }

    /** @param line of the export, the next play */
    void play(JsonObject line) {
        Fields play = new Fields("#play/" + plays, line);
        if (!play.uuid("draw").equals(id)) {
            throw play.fault("draw", "must be " + id + ": this is a play of another draw");
        }
        if (play.number("seq") != plays) {
            throw play.fault("seq", "must be " + plays + ": plays are missing, or not in order");
        }
        int number = play.integer("number");
        if (number < 1 || number > won.length) {
            throw play.fault("number", "is no prize of the draw");
        }
        Turn now = turn(play);
        plays++;
        won[number - 1]++;
        if (faults.size() < MAX_FAULTS) {
            String wrong = wrong(now, number, play);
            if (wrong != null) {
                fault("play " + (plays - 1) + " of " + now.user.value() + " " + wrong);
            }
        }
    }

    private void fault(String contradiction) {
        if (faults.size() < MAX_FAULTS) {
            faults.add(contradiction);
        }
    }

    private Turn turn(Fields play) {
        UUID of = play.uuid("turn");
        UserId user = play.parsed("user", UserId::new);
        Instant at = moment(play);
        Turn before = turn != null && turn.id.equals(of) ? turn : null;
        Turn now = new Turn(of, user, at, before == null ? 1 : before.plays + 1);
        if (before == null ? !turns.add(of) : !before.user.equals(user) || !before.at.equals(at)) {
            fault("play " + plays + " belongs to turn " + of + ", which is another user's, or was played before");
        }
        turn = now;
        return now;
    }

    private static Instant moment(Fields play) {
        try {
            Instant at = Instant.parse(play.text("at"));
            if (at.isBefore(Instant.EPOCH) || at.isAfter(LATEST)) {
                throw play.fault("at", "must be a time from 1970 to 9999");
            }
            return at;
        } catch (DateTimeParseException malformed) {
            throw play.fault("at", "must be a time");
        }
    }

    private @Nullable String wrong(Turn now, int number, Fields play) {
        if (!definition.admits(now.user)) {
            return "is of a user who may not play";
        }
        String unplanned = schedule == null ? null : schedule.load(now.at, play);
        if (unplanned != null) {
            return unplanned;
        }
        chance.beginPlay(now.id, now.plays - 1);
        DrawModel.Result result = model.play(now.user.value(), now.at.toEpochMilli(), definition.dayOf(now.at));
        Release taken = schedule == null ? null : schedule.taken(number, play);
        if (result.refused() != null) {
            return "gave prize " + number + ", the rules refuse it: " + result.refused();
        }
        if (result.prize() == number && Objects.equals(result.release(), taken)) {
            return null;
        }
        String why = schedule == null || taken == null ? "" : ", " + schedule.wrong(taken, now.at);
        return "gave " + words(number, taken) + why + ": the seed gives " + words(result.prize(), result.release());
    }

    private static String words(int number, @Nullable Release release) {
        return "prize " + number
                + (release == null ? "" : " by release " + release.number() + " of period " + release.period());
    }

    /** Ends the replay, after the last play. */
    void end() {
        for (int i = 0; i < won.length; i++) {
            if (won[i] != issued[i]) {
                fault("of prize " + (i + 1) + " the final table issued " + issued[i] + ", listed are " + won[i]);
            }
        }
    }

    @Override
    public String subject() {
        return "draw " + id + ": " + plays + " plays by " + definition.mode().wireName();
    }

    @Override
    public String commitment() {
        return commitment;
    }

    @Override
    public List<String> contradictions() {
        return List.copyOf(faults);
    }

    @Override
    public List<String> shown() {
        List<String> shown = new ArrayList<>();
        shown.add("the commitment is the SHA-256 of this definition and the seed");
        shown.add("the seed and the rules give the prizes of all " + plays + " plays, with limits and guarantees");
        if (schedule != null) {
            shown.add("each scheduled prize went to the first who could win it, by the order and the times that the"
                    + " server tells");
        }
        if (schedule != null && schedule.early() > 0) {
            shown.add(schedule.early() + " plays were made before the period of their time was on the schedule");
        }
        return shown;
    }

    /**
     * The schedule of a replayed draw: the releases on it at each play, at the seed's moments. The server puts a period on it some time before
     * its start, and each play names the last one. Not thread-safe.
     */
    private static final class ScheduleReplay {
        /** The most releases on the schedule: half a gigabyte. */
        private static final int MAX_RELEASED = 5_000_000;

        private final DrawDefinition definition;
        private final DrawDefinition.Schedule schedule;
        private final Seed.Numbers chance;
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
        ScheduleReplay(DrawDefinition definition, Seed.Numbers chance, DrawModel model, List<Fields> quotas) {
            this.definition = definition;
            this.schedule = Objects.requireNonNull(definition.schedule());
            this.chance = chance;
            this.model = model;
            this.used = new long[definition.prizes().size()];
            quotas.forEach(quota ->
                    changed.put(new Slot(quota.integer("period"), quota.integer("prize")), quota.number("quota")));
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
            String wrong =
                    schedule.carryOver() && period > last + 1 ? "period " + (last + 1) + " was not planned" : null;
            for (int i = 0; i < counts.length; i++) {
                Long own = changed.get(new Slot(period, i + 1));
                long most = own == null ? definition.quota(definition.prizes().get(i), period) : own;
                most = Math.max(0, Math.min(most, DrawDefinition.MAX_RELEASES));
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
                    || counts.stream().anyMatch(count -> count < 0 || count > DrawDefinition.MAX_RELEASES)) {
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
            return chance.moments(definition, period, prize, changed.get(new Slot(period, prize)));
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
}
