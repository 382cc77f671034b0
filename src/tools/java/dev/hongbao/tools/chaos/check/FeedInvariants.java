package dev.hongbao.tools.chaos.check;

import dev.hongbao.tools.chaos.history.Heard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The rules on a group's feed as it is heard over sockets: one order for all, nothing twice, and nothing left out. */
final class FeedInvariants {
    static final String ONCE = "a feed goes on, over every reconnect, and tells nothing twice";
    static final String SAME = "a place in a feed is one event, for everybody";
    static final String ALL = "who follows a feed misses nothing, over every reconnect";

    /** A newer one replaces an older one, also one that nobody has heard yet. */
    private static final List<String> CUMULATIVE = List.of("packet.progress ", "rain.caught ");

    private FeedInvariants() {}

    /**
     * @param heard what each listener heard, in its order
     * @param losses what was heard in such times is told: it proves nothing
     */
    static List<Violation> check(List<Heard> heard, List<Loss> losses) {
        List<Violation> found = new ArrayList<>();
        Map<Long, SortedMap<Long, Heard>> stretches = new HashMap<>();
        TreeMap<Long, Heard> all = new TreeMap<>();
        Set<List<Long>> told = heard.stream()
                .map(each -> List.of(each.stretch(), each.cursor()))
                .collect(Collectors.toSet());
        for (Heard each : Loss.kept(heard, losses)) {
            SortedMap<Long, Heard> before = stretches.computeIfAbsent(each.stretch(), first -> new TreeMap<>());
            if (!before.isEmpty() && before.lastKey() >= each.cursor()) {
                found.add(violation(ONCE, each + " comes after " + before.get(before.lastKey())));
            }
            before.put(each.cursor(), each);
            Heard other = all.putIfAbsent(each.cursor(), each);
            if (other != null && !other.fact().equals(each.fact())) {
                found.add(violation(SAME, other + " is also " + each));
            }
        }
        stretches.forEach((stretch, its) -> all.subMap(its.firstKey(), its.lastKey())
                .values()
                .forEach(event -> {
                    if (!told.contains(List.of(stretch, event.cursor()))
                            && CUMULATIVE.stream().noneMatch(event.fact()::startsWith)) {
                        found.add(violation(
                                ALL, event + " was not told between " + its.firstKey() + " and " + its.lastKey()));
                    }
                }));
        return found;
    }

    private static Violation violation(String rule, String what) {
        return new Violation(rule, what, List.of());
    }
}
