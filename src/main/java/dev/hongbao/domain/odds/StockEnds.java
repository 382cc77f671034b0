package dev.hongbao.domain.odds;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Watches a simulation for what is gone before its end. For one run, on one thread. */
final class StockEnds {
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
     * A period is on the schedule.
     *
     * @param prize from 1
     * @param wanted its quota, of which {@code moments} is what the stock allowed
     */
    void released(int prize, long wanted, long[] moments) {
        cut[prize - 1] |= moments.length < wanted;
        for (long moment : moments) {
            lastReleased[prize - 1] = Math.max(lastReleased[prize - 1], moment);
        }
    }

    /** A play was made. @param play from 1 */
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

    /** What was gone too early, in the order of the prizes' numbers; everything comes last. */
    List<Simulation.StockEnd> early(boolean refusedSome) {
        List<Simulation.StockEnd> ends = new ArrayList<>();
        for (int prize = 1; prize <= won.length; prize++) {
            if (rules.mode() == DrawMode.SCHEDULE && cut[prize - 1]) {
                ends.add(new Simulation.StockEnd(
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

    /** Where prizes run out one by one: whether the odds, or a guarantee, promise more of it than there is. */
    private boolean wasWantedMore(int prize) {
        boolean alone = rules.mode() == DrawMode.WEIGHTS
                || (rules.mode() == DrawMode.TABLE && rules.whenExhausted() == WhenExhausted.RESCALE);
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
        // A table gives the fallback, or nothing, only when it is over, or when a user may not have what is left.
        return switch (rules.mode()) {
            case TABLE -> allUsedUp || !limited;
            case WEIGHTS -> allUsedUp;
            case SCHEDULE -> false;
        };
    }

    private Simulation.StockEnd at(int prize, long play) {
        long open = definition.opening().toEpochMilli();
        double millis = (double) (definition.closesAt().toEpochMilli() - open) / plays * Math.max(0, play - 1);
        return new Simulation.StockEnd(prize, play, Instant.ofEpochMilli(open + (long) millis));
    }

    private long playAt(long moment) {
        long open = definition.opening().toEpochMilli();
        double part = (double) (moment - open) / (definition.closesAt().toEpochMilli() - open);
        return Math.min(plays, (long) (part * plays) + 1);
    }
}
