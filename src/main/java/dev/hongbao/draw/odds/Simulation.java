package dev.hongbao.draw.odds;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.draw.odds.DrawDefinition.WhenExhausted;
import java.time.Instant;
import java.util.ArrayList;
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
     * @param seen the wins of each prize
     * @param promised wins of each prize, of all winning plays; for a schedule the released number
     * @param overTime the wins so far, by step and prize
     * @param verdict null where the promise is not a distribution: for schedules, and where guarantees or users' limits change the odds
     * @param ends the stocks that ran out before the last play
     */
    public record Outcome(
            long plays,
            Map<DrawModel.Refused, Long> refused,
            long[] seen,
            double[] promised,
            long[][] overTime,
            @Nullable ChiSquare verdict,
            List<StockEnd> ends) {
        public Outcome {
            ends = List.copyOf(ends);
        }
    }

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
        double[] promised = rules.mode() == Mode.SCHEDULE ? onSchedule(released, won) : promised(won);
        return new Outcome(
                won,
                refused,
                seen,
                promised,
                overTime,
                movesOdds() ? null : ChiSquare.of(seen, promised),
                ends.early(refused.containsKey(DrawModel.Refused.EXHAUSTED)));
    }

    private boolean movesOdds() {
        return rules.mode() == Mode.SCHEDULE
                || !rules.guarantees().isEmpty()
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
                long[] moments = chance.moments(
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
        return rules.mode() == Mode.TABLE ? byRounds(plays) : byWeights(plays);
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

    /** Finds the stocks that run out during a simulation. For one run, on one thread. */
    private static final class StockEnds {
        private final DrawDefinition definition;
        private final DrawRules rules;
        private final long plays;
        private final long[] won;
        private final long[] lastWon;
        private final long[] lastReleased;
        private final boolean[] cut;
        private long lastWin;
        private long winless;

        StockEnds(DrawDefinition definition, DrawRules rules, long plays) {
            int prizes = rules.prizes().size();
            this.definition = definition;
            this.rules = rules;
            this.plays = plays;
            this.won = new long[prizes];
            this.lastWon = new long[prizes];
            this.lastReleased = new long[prizes];
            this.cut = new boolean[prizes];
        }

        /**
         * Records a period's releases of a prize.
         *
         * @param prize from 1
         * @param wanted its quota; {@code moments} has the part that the stock allowed
         */
        void released(int prize, long wanted, long[] moments) {
            cut[prize - 1] |= moments.length < wanted;
            for (long moment : moments) {
                lastReleased[prize - 1] = Math.max(lastReleased[prize - 1], moment);
            }
        }

        /**
         * Records a play.
         *
         * @param play from 1
         */
        void played(long play, DrawModel.Result result) {
            int prize = result.prize();
            if (result.refused() == null) {
                won[prize - 1]++;
                lastWon[prize - 1] = play;
            }
            if (result.refused() == null && prize != rules.fallback()) {
                lastWin = play;
                winless = 0;
            } else if (result.refused() == null || result.refused() == DrawModel.Refused.EXHAUSTED) {
                winless++;
            }
        }

        /** The stocks that ran out too early, in the order of the prizes' numbers; the end of all prizes comes last. */
        List<StockEnd> early(boolean refusedSome) {
            List<StockEnd> ends = new ArrayList<>();
            for (int prize = 1; prize <= won.length; prize++) {
                if (rules.mode() == Mode.SCHEDULE && cut[prize - 1]) {
                    ends.add(new StockEnd(
                            prize, playAt(lastReleased[prize - 1]), Instant.ofEpochMilli(lastReleased[prize - 1])));
                } else if (isUsedUp(prize) && (prize == rules.fallback() ? refusedSome : wasWantedMore(prize))) {
                    ends.add(at(prize, lastWon[prize - 1]));
                }
            }
            if (winless > 0 && isAllOver()) {
                ends.add(at(0, lastWin));
            }
            return ends;
        }

        private boolean isUsedUp(int prize) {
            Long stock = definition.allPrizes().get(prize - 1).stock();
            return stock != null && won[prize - 1] >= stock && lastWon[prize - 1] < plays;
        }

        /** In modes where prizes run out one by one: whether the odds or a guarantee promise more than the stock. */
        private boolean wasWantedMore(int prize) {
            boolean alone = rules.mode() == Mode.WEIGHTS
                    || (rules.mode() == Mode.TABLE && rules.whenExhausted() == WhenExhausted.RESCALE);
            double all =
                    rules.prizes().stream().mapToDouble(DrawRules.Prize::chance).sum();
            return alone
                    && (plays * (rules.prize(prize).chance() / all) > won[prize - 1]
                            || rules.prize(prize).guarantee() > 0);
        }

        private boolean isAllOver() {
            boolean allUsedUp = true;
            boolean limited = false;
            for (int prize = 1; prize <= definition.prizes().size(); prize++) {
                allUsedUp &= isUsedUp(prize);
                limited |= rules.prize(prize).perUser() > 0;
            }
            // A table gives the fallback, or nothing, in two cases: it is over, or the user may not have the rest.
            return switch (rules.mode()) {
                case TABLE -> allUsedUp || !limited;
                case WEIGHTS -> allUsedUp;
                case SCHEDULE -> false;
            };
        }

        private StockEnd at(int prize, long play) {
            long open = definition.opening().toEpochMilli();
            double millis = (double) (definition.closesAt().toEpochMilli() - open) / plays * Math.max(0, play - 1);
            return new StockEnd(prize, play, Instant.ofEpochMilli(open + (long) millis));
        }

        private long playAt(long moment) {
            long open = definition.opening().toEpochMilli();
            double part = (double) (moment - open) / (definition.closesAt().toEpochMilli() - open);
            return Math.min(plays, (long) (part * plays) + 1);
        }
    }

    /**
     * Pearson's test of observed against promised counts. For simulations and tests only, so it may use floating point.
     *
     * @param statistic Σ (seen - expected)² / expected; prizes expected less than 10 times are taken together
     * @param freedom degrees of freedom: classes - 1
     */
    public record ChiSquare(double statistic, int freedom) {
        /** With fewer, the statistic does not follow the chi-square distribution. */
        private static final double MIN_EXPECTED = 10;

        /** The standard normal's upper 10^-5. */
        private static final double RARE = 4.27;

        /**
         * @param seen the count of each class
         * @param expected the promised count of each class, 0 or more, with the same sum
         */
        public static ChiSquare of(long[] seen, double[] expected) {
            double statistic = 0;
            int classes = 0;
            double rareSeen = 0;
            double rareExpected = 0;
            for (int i = 0; i < seen.length; i++) {
                if (expected[i] >= MIN_EXPECTED) {
                    statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
                    classes++;
                } else {
                    rareSeen += seen[i];
                    rareExpected += expected[i];
                }
            }
            if (rareExpected > 0) {
                statistic += (rareSeen - rareExpected) * (rareSeen - rareExpected) / Math.max(rareExpected, 1);
                classes++;
            }
            return new ChiSquare(statistic, Math.max(1, classes - 1));
        }

        /** The limit that the statistic exceeds once in 100,000 times if the promise is kept (Wilson and Hilferty's normal form). */
        public double limit() {
            double ninth = 2.0 / (9 * freedom);
            return freedom * Math.pow(1 - ninth + RARE * Math.sqrt(ninth), 3);
        }

        public boolean isPlausible() {
            return statistic < limit();
        }
    }
}
