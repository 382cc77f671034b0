package dev.hongbao.domain.odds;

import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Plays a draw without servers: plays at even intervals from the opening to the close, by users in turn. Blocking; single-threaded. */
public final class Simulation {
    /** Points of the curves over time. */
    public static final int STEPS = 200;

    private static final int PROGRESS_EVERY = 10_000;

    private final DrawDefinition definition;
    private final DrawRules rules;
    private final Chance chance;
    private final int users;

    /**
     * @param definition with an opening
     * @param users the number of users
     */
    public Simulation(DrawDefinition definition, Chance chance, int users) {
        this.definition = definition;
        this.rules = definition.rules();
        this.chance = chance;
        this.users = users;
    }

    /**
     * The result of a simulation.
     *
     * @param plays that won something
     * @param refused the number of other plays, by reason
     * @param verdict null where the promise is not a distribution: for schedules, and where guarantees or users' limits change the odds
     * @param ends the stocks that ran out before the last play
     */
    public record Outcome(
            long plays,
            Map<DrawModel.Refused, Long> refused,
            Counts counts,
            @Nullable ChiSquare verdict,
            List<StockEnd> ends) {
        public Outcome {
            ends = List.copyOf(ends);
        }

        public long[] seen() {
            return counts.seen;
        }

        public double[] promised() {
            return counts.promised;
        }

        public long[][] overTime() {
            return counts.overTime;
        }
    }

    /**
     * The wins of each prize.
     *
     * @param promised of all winning plays; for a schedule the released number
     * @param overTime the wins so far, by step and prize
     */
    public record Counts(long[] seen, double[] promised, long[][] overTime) {}

    /**
     * A stock that ran out before the last play, while more was wanted.
     *
     * @param prize its number, from 1; 0 for all prizes, so that later plays win the fallback or are refused
     * @param play the play that won the last one, or during which it was released, from 1
     * @param at the time of that play
     */
    public record StockEnd(int prize, long play, Instant at) {}

    /**
     * Runs the simulation.
     *
     * @param progress receives the number of finished plays
     */
    public Outcome run(long plays, LongConsumer progress) {
        DrawModel model = new DrawModel(rules, chance);
        int prizes = rules.prizes().size();
        long[] seen = new long[prizes];
        long[][] overTime = new long[STEPS][prizes];
        Map<DrawModel.Refused, Long> refused = new EnumMap<>(DrawModel.Refused.class);
        StockEnds ends = new StockEnds(definition, rules, plays);
        long[] released = release(model, ends);
        long open = definition.opening().toEpochMilli();
        double millisAPlay = (double) (definition.closesAt().toEpochMilli() - open) / plays;
        String[] names = new String[users];
        Arrays.setAll(names, i -> "user" + i);
        int filled = 0;
        for (long i = 0; i < plays; i++) {
            long now = open + (long) (i * millisAPlay);
            DrawModel.Result result =
                    model.play(names[(int) (i % users)], now, definition.dayOf(Instant.ofEpochMilli(now)));
            ends.played(i + 1, result);
            if (result.refused() == null) {
                seen[result.prize() - 1]++;
            } else {
                refused.merge(result.refused(), 1L, Long::sum);
            }
            for (; (i + 1) * STEPS >= (filled + 1L) * plays; filled++) {
                overTime[filled] = seen.clone();
            }
            if ((i + 1) % PROGRESS_EVERY == 0 || i + 1 == plays) {
                progress.accept(i + 1);
            }
        }
        long won = Arrays.stream(seen).sum();
        double[] promised = rules.mode() == DrawMode.SCHEDULE ? onSchedule(released, won) : promised(won);
        return new Outcome(
                won,
                refused,
                new Counts(seen, promised, overTime),
                movesOdds() ? null : ChiSquare.of(seen, promised),
                ends.early(refused.containsKey(DrawModel.Refused.EXHAUSTED)));
    }

    private boolean movesOdds() {
        return rules.mode() == DrawMode.SCHEDULE
                || !rules.perUser().guarantees().isEmpty()
                || !rules.limitedPrizes().isEmpty();
    }

    /**
     * Puts every period's quota on the schedule, as the planner does.
     *
     * @return the number of each prize
     */
    private long[] release(DrawModel model, StockEnds ends) {
        long[] released = new long[rules.prizes().size()];
        for (int period = 0; period < definition.periods(); period++) {
            for (int i = 0; i < definition.prizes().size(); i++) {
                Prize prize = definition.prizes().get(i);
                Long stock = prize.stock();
                long left = stock == null ? Long.MAX_VALUE : stock - released[i];
                int quota = (int) Math.min(left, definition.quota(prize, period));
                long[] moments = Moments.scatter(
                        chance,
                        definition.periodStart(period).toEpochMilli(),
                        definition.periodStart(period + 1).toEpochMilli(),
                        quota);
                for (int number = 1; number <= quota; number++) {
                    model.release(new DrawModel.Release(period, i + 1, number), moments[number - 1]);
                }
                released[i] += quota;
                ends.released(i + 1, definition.quota(prize, period), moments);
            }
        }
        return released;
    }

    private double[] onSchedule(long[] released, long won) {
        double[] promised = new double[released.length];
        long scheduled = 0;
        for (int i = 0; i < released.length; i++) {
            promised[i] = released[i];
            scheduled += released[i];
        }
        promised[rules.fallback() - 1] = Math.max(0, won - scheduled);
        return promised;
    }

    /** The promised wins of each prize in a number of plays. */
    private double[] promised(long plays) {
        return rules.mode() == DrawMode.TABLE ? byRounds(plays) : byWeights(plays);
    }

    private double[] byRounds(long plays) {
        int prizes = rules.prizes().size();
        double[] promised = new double[prizes];
        long[] stock = rules.prizes().stream().mapToLong(DrawRules.Prize::stock).toArray();
        long rest = plays;
        for (long round = 1; rest > 0; round++) {
            long[] counts = rules.roundCounts(stock, round);
            long sum = Arrays.stream(counts).sum();
            if (sum == 0) {
                if (rules.fallback() > 0) {
                    promised[rules.fallback() - 1] += rest;
                }
                break;
            }
            double part = Math.min(1.0, (double) rest / sum);
            for (int i = 0; i < prizes; i++) {
                promised[i] += counts[i] * part;
                stock[i] -= stock[i] < 0 ? 0 : counts[i];
            }
            rest -= Math.min(rest, sum);
        }
        return promised;
    }

    private double[] byWeights(long plays) {
        int prizes = rules.prizes().size();
        double[] promised = new double[prizes];
        long sum = rules.prizes().stream().mapToLong(DrawRules.Prize::chance).sum();
        double toFallback = 0;
        for (int i = 0; i < prizes; i++) {
            DrawRules.Prize prize = rules.prizes().get(i);
            double hits = (double) plays * prize.chance() / sum;
            promised[i] = prize.stock() < 0 ? hits : Math.min(hits, prize.stock());
            toFallback += hits - promised[i];
        }
        if (rules.fallback() > 0) {
            promised[rules.fallback() - 1] += toFallback;
        }
        return promised;
    }
}
