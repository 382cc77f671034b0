package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/** Rounds of faults that follow from a seed: every kind once, in some order, then every kind again. For one thread. */
public final class Schedule {
    private static final int MOST_AT_ONCE = 3;
    private static final int ONE_IN_LONG = 8;
    private static final int LONG_MILLIS = 12_000;
    private static final int USUAL_MILLIS = 2_500;

    private final ChaosBed bed;
    private final SplittableRandom random;
    private final List<FaultKind> kinds;
    private final Deque<FaultKind> coming = new ArrayDeque<>();
    private final boolean isShort;

    /**
     * Faults that last together.
     *
     * @param millis from the last one's beginning to the first one's end
     */
    public record Round(List<Fault> faults, long millis) {}

    /** @param isShort whether no round lasts longer than usual */
    public Schedule(ChaosBed bed, SplittableRandom random, boolean isShort) {
        this.bed = bed;
        this.random = random;
        this.isShort = isShort;
        this.kinds = kinds(bed.redis().form());
    }

    static List<FaultKind> kinds(Form form) {
        List<FaultKind> all = new ArrayList<>(ServerFaults.ALL);
        all.addAll(RedisFaults.of(form));
        all.addAll(PostgresFaults.ALL);
        all.addAll(NetworkFaults.of(form));
        return all;
    }

    /** The next round: one fault to three, each in another place. */
    public Round next() {
        int wanted = 1 + random.nextInt(MOST_AT_ONCE);
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < wanted; i++) {
            if (coming.isEmpty()) {
                shuffle();
            }
            Fault fault = coming.element().make(bed, random);
            Set<String> hurt = faults.stream().map(Fault::place).collect(Collectors.toSet());
            if (!hurt.contains(fault.place())) {
                faults.add(fault);
                coming.remove();
            }
        }
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
