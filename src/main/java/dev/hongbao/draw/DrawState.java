package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawRules;
import dev.hongbao.store.redis.MessagePack;
import java.util.List;
import java.util.stream.IntStream;

/** A draw's rules and state in the form that {@code play.lua} reads from the draw's hash. */
final class DrawState {
    private DrawState() {}

    /**
     * The settled wins of a prize.
     *
     * @param round the latest round with one, from 1
     * @param inRound the number in that round
     */
    public record Issued(long issued, long round, long inRound) {
        static final Issued NOTHING = new Issued(0, 1, 0);

        /** One more win, in the latest round or a later one. */
        public Issued and(long inThisRound) {
            return inThisRound > round
                    ? new Issued(issued + 1, inThisRound, 1)
                    : new Issued(issued + 1, round, inRound + (inThisRound == round ? 1 : 0));
        }
    }

    /** The rules, in the script's order. */
    static byte[] rules(DrawRules rules) {
        List<DrawRules.Prize> prizes = rules.prizes();
        return MessagePack.array(List.of(
                (long) rules.mode().ordinal(),
                (long) rules.whenExhausted().ordinal(),
                prizes.stream().mapToLong(DrawRules.Prize::chance).toArray(),
                prizes.stream().mapToLong(DrawRules.Prize::perUser).toArray(),
                prizes.stream().mapToLong(DrawRules.Prize::guarantee).toArray(),
                (long) rules.fallback(),
                rules.total(),
                rules.perDay(),
                rules.guarantees().stream().mapToLong(Integer::longValue).toArray(),
                rules.periods().originMillis(),
                rules.periods().lengthMillis(),
                rules.periods().carryOver() ? 1L : 0L));
    }

    /** The state before the first play. */
    static byte[] first(DrawRules rules) {
        return after(rules, rules.prizes().stream().map(prize -> Issued.NOTHING).toList());
    }

    /**
     * The state after some wins. The round's counts follow from the stocks at the round's start.
     *
     * @param issued by prize
     */
    public static byte[] after(DrawRules rules, List<Issued> issued) {
        int prizes = issued.size();
        long round = issued.stream().mapToLong(Issued::round).max().orElse(1);
        long[] inRound = IntStream.range(0, prizes)
                .mapToLong(i -> issued.get(i).round == round ? issued.get(i).inRound : 0)
                .toArray();
        long[] stock = new long[prizes];
        long[] stockBefore = new long[prizes];
        for (int i = 0; i < prizes; i++) {
            long all = rules.prizes().get(i).stock();
            stock[i] = all < 0 ? -1 : all - issued.get(i).issued;
            stockBefore[i] = all < 0 ? -1 : stock[i] + inRound[i];
        }
        long[] left = new long[rules.mode() == DrawDefinition.Mode.TABLE ? prizes : 0];
        if (left.length > 0) {
            long[] counts = rules.roundCounts(stockBefore, round);
            for (int i = 0; i < prizes; i++) {
                left[i] = i + 1 == rules.fallback() ? 0 : counts[i] - inRound[i];
            }
        }
        return MessagePack.array(List.of(round, left, stock));
    }
}
