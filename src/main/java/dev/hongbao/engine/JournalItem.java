package dev.hongbao.engine;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
