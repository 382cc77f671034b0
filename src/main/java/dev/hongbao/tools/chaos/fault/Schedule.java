package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.local.Debugger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Rounds of faults that follow from a seed: every kind once, in some order, then every kind again. For one thread. */
public final class Schedule {
    private static final int MOST_AT_ONCE = 8;
    private static final int ONE_IN_LONG = 12;
    private static final int LONG_MILLIS = 12_000;
    private static final int USUAL_MILLIS = 2_000;

    private final ChaosBed bed;
    private final SplittableRandom random;
    private final List<FaultKind> kinds;
    private final Deque<FaultKind> coming = new ArrayDeque<>();
    private final boolean isShort;

    /**
     * Which faults come.
     *
     * @param only texts, separated by commas: kinds come that have one of them in their names; empty for all
     * @param isShort whether no round lasts longer than usual
     */
    public record Wish(String only, boolean isShort) {}

    /**
     * Faults that last together.
     *
     * @param millis from the last one's beginning to the first one's end
     */
    public record Round(List<Fault> faults, long millis) {}

    /** @throws IllegalArgumentException when no kind has such a name */
    public Schedule(ChaosBed bed, SplittableRandom random, Wish wish) {
        this.bed = bed;
        this.random = random;
        this.isShort = wish.isShort;
        this.kinds = kinds(bed.redis().form()).stream()
                .filter(kind -> Stream.of(wish.only.split(",", -1)).anyMatch(kind.name()::contains))
                .toList();
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("no kind of fault has the name " + wish.only);
        }
    }

    static List<FaultKind> kinds(Form form) {
        List<FaultKind> all = new ArrayList<>(ServerFaults.ALL);
        all.addAll(Debugger.isThere() ? StepFaults.ALL : List.of());
        all.addAll(RedisFaults.of(form));
        all.addAll(PostgresFaults.ALL);
        all.addAll(NetworkFaults.of(form));
        return all;
    }

    /** The next round: one fault to eight, each in another place. */
    public Round next() {
        int wanted = 1 + random.nextInt(MOST_AT_ONCE);
        List<Fault> faults = new ArrayList<>();
        Set<String> hurt = new HashSet<>();
        if (coming.isEmpty()) {
            shuffle();
        }
        for (Iterator<FaultKind> kinds = coming.iterator(); kinds.hasNext() && faults.size() < wanted; ) {
            Fault fault = kinds.next().make(bed, random);
            if (hurt.add(fault.place())) { // who finds his place taken comes in a later round
                faults.add(fault);
                kinds.remove();
            }
        }
        faults.sort(Comparator.comparing(fault -> fault.step().isEmpty()));
        boolean isLong = random.nextInt(ONE_IN_LONG) == 0 && !isShort;
        return new Round(faults, random.nextInt(isLong ? LONG_MILLIS : USUAL_MILLIS));
    }

    private void shuffle() {
        List<FaultKind> left = new ArrayList<>(kinds);
        while (!left.isEmpty()) {
            coming.add(left.remove(random.nextInt(left.size())));
        }
    }
}
