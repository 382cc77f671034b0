package dev.hongbao.engine.journal;

import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The units that one settlement sets aside, and the items that it keeps for units that are set aside. Not thread-safe. */
public final class SetAside {
    private static final int PARAMETERS = 8;

    /** A message of Postgres within this length tells an operator enough. */
    private static final int MAX_REASON = 500;

    private final Map<QuarantineUnit, Mark> marks = new HashMap<>();
    private final List<String> verbs = new ArrayList<>();
    private final List<JournalItem> items = new ArrayList<>();

    /**
     * Marks a unit that is set aside from now on.
     *
     * @param sqlState of the refusal; empty for a unit that cannot be read
     */
    public record Mark(int shard, String sqlState, String reason) {
        public Mark {
            reason = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
        }
    }

    void mark(QuarantineUnit unit, Mark mark) {
        marks.put(unit, mark);
    }

    /** Keeps an item. Call it in the order of the journal. */
    void keep(String verb, JournalItem item) {
        verbs.add(verb);
        items.add(item);
    }

    /** Keeps another settlement's kept items, too. */
    void keepAll(SetAside other) {
        verbs.addAll(other.verbs);
        items.addAll(other.items);
    }

    public Map<QuarantineUnit, Mark> marks() {
        return marks;
    }

    public boolean isEmpty() {
        return marks.isEmpty() && items.isEmpty();
    }

    /** The SQL that follows a call which returns {@code settled_at}. Its parameters follow the first {@code before} ones. */
    public String call(int before) {
        return IntStream.rangeClosed(before + 1, before + PARAMETERS)
                .mapToObj(n -> "$" + n)
                .collect(Collectors.joining(", ", ", lateral set_aside(settled_at, ", ")"));
    }

    public void addTo(Tuple parameters) {
        List<Map.Entry<QuarantineUnit, Mark>> all = List.copyOf(marks.entrySet());
        parameters
                .addArrayOfUUID(all.stream().map(mark -> mark.getKey().id()).toArray(UUID[]::new))
                .addArrayOfString(all.stream().map(mark -> mark.getKey().kind()).toArray(String[]::new))
                .addArrayOfShort(all.stream()
                        .map(mark -> (short) mark.getValue().shard())
                        .toArray(Short[]::new))
                .addArrayOfString(
                        all.stream().map(mark -> mark.getValue().sqlState()).toArray(String[]::new))
                .addArrayOfString(
                        all.stream().map(mark -> mark.getValue().reason()).toArray(String[]::new))
                .addArrayOfUUID(items.stream().map(item -> item.unit().id()).toArray(UUID[]::new))
                .addArrayOfString(verbs.toArray(String[]::new))
                .addArrayOfString(items.stream().map(JournalItem::payload).toArray(String[]::new));
    }
}
