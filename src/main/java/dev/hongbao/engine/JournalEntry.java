package dev.hongbao.engine;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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

    /**
     * One item that a script wrote into the journal, such as some accepted claims, or a close. Implementations are deeply immutable:
     * they travel on the event bus without a copy.
     */
    public interface JournalItem {
        /** The journal's name of this kind, see {@link Format}. */
        String verb();

        /** The number of effects, at least 1; batches are measured by it. */
        default int size() {
            return 1;
        }

        /** The packet or draw that it belongs to. */
        Quarantine.Unit unit();

        /** The item as the script wrote it; its {@link Format} reads it back. */
        String payload();

        /**
         * The text form of one kind of journal items. Writers and readers of a journal share it.
         *
         * @param verb the field name of the items in a journal entry
         * @param parser reads an item; null for text that the script does not write: the item is then void
         */
        record Format(String verb, Function<String, @Nullable JournalItem> parser) {
            /** Reads an item of the journal; null for text that the script does not write. */
            public @Nullable JournalItem read(String payload) {
                return parser.apply(payload);
            }
        }
    }
}
