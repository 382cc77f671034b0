package dev.hongbao.engine.journal;

import dev.hongbao.engine.shard.Generation;
import java.util.List;

/**
 * One journal entry: what one call of a script accepted. Immutable; published on the event bus at {@link
 * #address(int)} once, by the server whose script call was answered, if it owns the shard. Delivery is best effort: an entry may be
 * missing there (never in the journal), and those of several event loops come in any order.
 *
 * @param seq its place in the generation's journal, from 1 without gaps
 * @param verb what kind of items it holds; one kind an entry
 */
public record JournalEntry(Generation generation, long seq, String verb, List<JournalItem> items) {
    public JournalEntry {
        items = List.copyOf(items);
    }

    /** Where a shard's entries are published. */
    public static String address(int shard) {
        return "journal." + shard;
    }

    /** How many effects it has. */
    public int size() {
        int size = 0;
        for (JournalItem item : items) {
            size += item.size();
        }
        return size;
    }
}
