package dev.hongbao.journal;

import java.util.ArrayList;
import java.util.List;

/** Journal entries of one verb, from any number of shards, that are settled by one statement. */
final class SettlementBatch {
    private final String verb;
    private final CursorMoves moves = new CursorMoves();
    private final List<JournalItem> items = new ArrayList<>();
    private int size;

    SettlementBatch(String verb) {
        this.verb = verb;
    }

    String verb() {
        return verb;
    }

    CursorMoves moves() {
        return moves;
    }

    List<JournalItem> items() {
        return items;
    }

    /** The number of effects. */
    int size() {
        return size;
    }

    List<Integer> shards() {
        return moves.moves().stream().map(move -> move.generation().shard()).toList();
    }

    void add(JournalEntry entry) {
        items.addAll(entry.items());
        size += entry.size();
    }

    void move(Generation generation, long fromSeq, long toSeq) {
        moves.add(generation, fromSeq, toSeq);
    }
}
