package dev.hongbao.engine;

import dev.hongbao.engine.Quarantine.Mark;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Journal entries of one verb, from any number of shards, that one statement settles. Not thread-safe. */
public final class SettlementBatch {
    /** Settlements of a server at the same time, each on a Postgres connection of its own. */
    public static final int MOST_AT_ONCE = 2;

    private final String verb;
    private final CursorMoves moves;
    private final List<JournalItem> items = new ArrayList<>();
    private int size;

    public SettlementBatch(String verb) {
        this(verb, new CursorMoves());
    }

    private SettlementBatch(String verb, CursorMoves moves) {
        this.verb = verb;
        this.moves = moves;
    }

    public String verb() {
        return verb;
    }

    public CursorMoves moves() {
        return moves;
    }

    /** The items to settle; the other ones are set aside. */
    public List<JournalItem> items() {
        return items;
    }

    /** The number of effects. */
    public int size() {
        return size;
    }

    public List<Integer> shards() {
        return moves.moves().stream().map(move -> move.generation().shard()).toList();
    }

    /** The packets or draws of its items, in the order of the journal. */
    public List<Quarantine.Unit> units() {
        Set<Quarantine.Unit> units = new LinkedHashSet<>();
        items.forEach(item -> units.add(item.unit()));
        return List.copyOf(units);
    }

    /** @param aside the units of the entry's shard that are set aside */
    public void add(JournalEntry entry, Set<UUID> aside) {
        size += entry.size();
        if (aside.isEmpty()) {
            items.addAll(entry.items());
            return;
        }
        for (JournalItem item : entry.items()) {
            if (aside.contains(item.unit().id())) {
                moves.aside().keep(verb, item);
            } else {
                items.add(item);
            }
        }
    }

    public void move(Generation generation, long fromSeq, long toSeq) {
        moves.add(generation, fromSeq, toSeq);
    }

    /** A trial settlement of some units. It is undone at its end, and shows whether they can be settled. */
    public SettlementBatch trial(Collection<Quarantine.Unit> some) {
        SettlementBatch trial = new SettlementBatch(verb, moves.undone());
        for (JournalItem item : items) {
            if (some.contains(item.unit())) {
                trial.items.add(item);
                trial.size += item.size();
            }
        }
        return trial;
    }

    /** A copy of this batch that sets the culprits aside. */
    public SettlementBatch without(Map<Quarantine.Unit, Mark> culprits) {
        SettlementBatch rest = new SettlementBatch(verb, moves.again());
        rest.size = size;
        Quarantine.SetAside aside = rest.moves.aside();
        aside.keepAll(moves.aside());
        culprits.forEach(aside::mark);
        for (JournalItem item : items) {
            if (culprits.containsKey(item.unit())) {
                aside.keep(verb, item);
            } else {
                rest.items.add(item);
            }
        }
        return rest;
    }
}
