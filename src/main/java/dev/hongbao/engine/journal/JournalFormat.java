package dev.hongbao.engine.journal;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The text form of one kind of journal items. Writers and readers of a journal share it.
 *
 * @param verb the field name of the items in a journal entry
 * @param parser reads an item; null for text that the script does not write: the item is then void
 */
public record JournalFormat(String verb, Function<String, @Nullable JournalItem> parser) {
    /** Reads an item of the journal; null for text that the script does not write. */
    public @Nullable JournalItem read(String payload) {
        return parser.apply(payload);
    }
}
