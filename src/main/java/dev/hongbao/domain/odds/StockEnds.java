package dev.hongbao.domain.odds;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Finds the stocks that run out during a simulation. For one run, on one thread. */
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

    /** In modes where prizes run out one by one: whether the odds or a guarantee promise more than the stock. */
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
        // A table gives the fallback, or nothing, in two cases: it is over, or the user may not have the rest.
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
