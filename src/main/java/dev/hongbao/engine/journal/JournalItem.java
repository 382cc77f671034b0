package dev.hongbao.engine.journal;

/** One thing that a script wrote into the journal: some accepted claims, a close. Implementations are deeply immutable: they travel on the event bus as they are. */
public interface JournalItem {
    /** The journal's word for its kind, see {@link JournalFormat}. */
    String verb();

    /** How many effects it has; what batches are measured by. At least 1. */
    default int size() {
        return 1;
    }

    /** What it belongs to. */
    QuarantineUnit unit();

    /** As the script wrote it; its {@link JournalFormat} reads it back. */
    String payload();
}
