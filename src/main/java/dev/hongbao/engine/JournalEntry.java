package dev.hongbao.engine;

import java.util.List;

/**
 * One journal entry: the items that one call of a script accepted. Immutable. The server that called the script publishes it once
 * on the event bus at {@link #address(int)}, if it owns the shard. Delivery is best effort. An entry may be missing there (never
 * in the journal), and entries of several event loops come in any order.
 *
 * @param seq its place in the generation's journal, from 1 without gaps
 * @param verb the kind of its items; an entry has one kind
 */
public record JournalEntry(Generation generation, long seq, String verb, List<JournalItem> items) {
    public JournalEntry {
        items = List.copyOf(items);
    }

    /** The address of a shard's entries on the event bus. */
    public static String address(int shard) {
        return "journal." + shard;
    }

    /** The number of effects. */
    public int size() {
        int size = 0;
        for (JournalItem item : items) {
            size += item.size();
        }
        return size;
    }
}
