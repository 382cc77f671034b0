package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Rounds of faults by a seed: every kind in some order, then every kind again. Kinds without a restart of a server come twice as often: they
 * cost little. Confined to one thread.
 */
public final class Schedule {
    /** A server's start takes seconds, however few faults a round has. */
    static final int FEWEST = 16;

    static final int MOST = 36;

    static final int MOST_IN_PLACE = 6;
    private static final int ONE_IN_LONG = 100;
    static final int LONG_MILLIS = 12_000;
    static final int USUAL_MILLIS = 1_500;

    private final Function<FaultKind, Fault> made;
    private final SplittableRandom random;
    private final List<FaultKind> kinds;
    private final Deque<FaultKind> coming = new ArrayDeque<>();

    /** @param millis from the fault to its end */
    public record Turn(Fault fault, long millis) {}

    /**
     * Faults in several places at once.
     *
     * @param lanes the faults of each place, one after the other
     * @param isSilent whether one of them is: see {@link FaultKind}
     */
    public record Round(List<List<Turn>> lanes, boolean isSilent) {}

    /**
     * @param only texts, separated by commas: kinds come whose names contain one of them; empty for all
     * @throws IllegalArgumentException if no kind has such a name
     */
    public Schedule(ChaosBed bed, SplittableRandom random, String only) {
        this(Faults.of(bed.redis().form()), kind -> kind.maker().make(bed, random), random, only);
    }

    Schedule(List<FaultKind> all, Function<FaultKind, Fault> made, SplittableRandom random, String only) {
        this.made = made;
        this.random = random;
        this.kinds = all.stream()
                .filter(kind -> Stream.of(only.split(",", -1)).anyMatch(kind.name()::contains))
                .toList();
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("no kind of fault has the name " + only);
        }
    }

    /** The next round. Half of the rounds are not silent, since silence takes longer. */
    public Round next() {
        if (coming.size() < MOST) {
            shuffle();
        }
        int wanted = FEWEST + random.nextInt(MOST - FEWEST + 1);
        boolean isSilent = random.nextBoolean() || coming.stream().allMatch(FaultKind::isSilent);
        Lanes lanes = new Lanes();
        for (Iterator<FaultKind> kinds = coming.iterator(); kinds.hasNext() && lanes.count < wanted; ) {
            FaultKind kind = kinds.next();
            if ((isSilent || !kind.isSilent()) && lanes.add(kind, new Turn(made.apply(kind), millis()))) {
                kinds.remove(); // else it comes in a later round
            }
        }
        return new Round(List.copyOf(lanes.ofPlaces.values()), lanes.isSilent);
    }

    /** A round in the making. */
    private static final class Lanes {
        private final Map<String, List<Turn>> ofPlaces = new TreeMap<>();
        private final Set<String> restarted = new HashSet<>();
        private int count;
        private boolean isSilent;

        /** @return whether it fits: a server starts again once in a round */
        boolean add(FaultKind kind, Turn turn) {
            String place = turn.fault.place();
            List<Turn> lane = ofPlaces.getOrDefault(place, new ArrayList<>());
            if (lane.size() == MOST_IN_PLACE || kind.restarts() && !restarted.add(place)) {
                return false;
            }
            lane.add(turn);
            ofPlaces.put(place, lane);
            count++;
            isSilent |= kind.isSilent();
            return true;
        }
    }

    private long millis() {
        return random.nextInt(random.nextInt(ONE_IN_LONG) == 0 ? LONG_MILLIS : USUAL_MILLIS);
    }

    private void shuffle() {
        List<FaultKind> left = new ArrayList<>(kinds);
        kinds.stream().filter(kind -> !kind.restarts()).forEach(left::add);
        while (!left.isEmpty()) {
            coming.add(left.remove(random.nextInt(left.size())));
        }
    }
}
