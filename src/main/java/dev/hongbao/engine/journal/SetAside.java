package dev.hongbao.engine.journal;

import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What one settlement sets aside: units, from now on, and the items of units that are set aside. */
public final class SetAside {
    private static final int PARAMETERS = 8;

    /** Longer than any message of Postgres needs to be for an operator. */
    private static final int MAX_REASON = 500;

    private final Map<QuarantineUnit, Mark> marks = new HashMap<>();
    private final List<String> verbs = new ArrayList<>();
    private final List<JournalItem> items = new ArrayList<>();

    /**
     * A unit that is set aside from now on.
     *
     * @param sqlState of the refusal; empty for what cannot be read
     */
    public record Mark(int shard, String sqlState, String reason) {
        public Mark {
            reason = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
        }
    }

    void mark(QuarantineUnit unit, Mark mark) {
        marks.put(unit, mark);
    }

    /** Keeps an item; call it in the order of the journal. */
    void keep(String verb, JournalItem item) {
        verbs.add(verb);
        items.add(item);
    }

    /** Keeps what another keeps, too. */
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

    /** What is added to a call that returns {@code settled_at}; its parameters come after {@code before} others. */
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
