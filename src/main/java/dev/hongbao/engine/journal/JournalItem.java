package dev.hongbao.engine.journal;

/**
 * One item that a script wrote into the journal, such as some accepted claims, or a close. Implementations are deeply immutable:
 * they travel on the event bus without a copy.
 */
public interface JournalItem {
    /** The journal's name of this kind, see {@link JournalFormat}. */
    String verb();

    /** The number of effects, at least 1; batches are measured by it. */
    default int size() {
        return 1;
    }

    /** The packet or draw that it belongs to. */
    QuarantineUnit unit();

    /** The item as the script wrote it; its {@link JournalFormat} reads it back. */
    String payload();
}
