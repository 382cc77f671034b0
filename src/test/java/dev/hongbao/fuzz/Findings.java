package dev.hongbao.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** What came of all inputs, and what must not have come. Safe on any thread. */
public final class Findings {
    private static final int MOST = 20;
    private static final int MOST_OF_A_KIND = 4;
    private static final int MOST_TEXT = 600;

    private final long seed;
    private final List<String> found = new ArrayList<>();
    private final Map<String, Map<String, LongAdder>> outcomes = new ConcurrentHashMap<>();

    private final Map<String, Integer> broken = new ConcurrentHashMap<>();

    Findings(long seed) {
        this.seed = seed;
    }

    /** Counts what became of an input. */
    public void count(Input input, String outcome) {
        outcomes.computeIfAbsent(input.kind(), kind -> new ConcurrentSkipListMap<>())
                .computeIfAbsent(outcome, any -> new LongAdder())
                .increment();
    }

    /** A promise was broken. @param sent the input, as it was sent */
    public void found(Input input, String what, String sent) {
        if (broken.merge(input.kind(), 1, Integer::sum) > MOST_OF_A_KIND) {
            return;
        }
        add(input.name() + ": " + what + "\n  sent: " + shortened(sent)
                + "\n  again: ./mvnw -q test -Dtest=FuzzIT -Dfuzz.seed=" + seed + " -Dfuzz.only=" + input.name());
    }

    /** A promise about all inputs was broken. */
    public synchronized void add(String what) {
        if (found.size() < MOST) {
            found.add(what);
        }
    }

    /** At most twenty. */
    synchronized List<String> all() {
        return List.copyOf(found);
    }

    /** What came of a kind's inputs, how often. */
    Map<String, Long> outcomes(String kind) {
        Map<String, Long> counts = new TreeMap<>();
        outcomes.getOrDefault(kind, Map.of()).forEach((outcome, count) -> counts.put(outcome, count.sum()));
        return counts;
    }

    private static String shortened(String text) {
        String shown = text.length() > MOST_TEXT
                ? text.substring(0, MOST_TEXT) + "… (" + text.length() + " characters)"
                : text;
        return shown.replace("\r\n", "\\r\\n").replace("\u0000", "\\0");
    }
}
