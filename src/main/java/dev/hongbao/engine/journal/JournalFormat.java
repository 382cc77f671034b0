package dev.hongbao.engine.journal;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How a script writes items of one kind into the journal. There is one for each kind, and whoever reads a journal reads it with
 * that.
 *
 * @param verb the field name of the items in a journal entry
 * @param parser reads an item; null when the text is not what the script writes, and then the item is void
 */
public record JournalFormat(String verb, Function<String, @Nullable JournalItem> parser) {
    /** Reads an item back from the journal; null when the text is not what the script writes. */
    public @Nullable JournalItem read(String payload) {
        return parser.apply(payload);
    }
}
