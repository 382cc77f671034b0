package dev.hongbao.domain.archive;

/** A month is not archived: the message says what stands in the way, a line each, and what to do. Nothing has changed. */
public final class ArchiveHinderedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ArchiveHinderedException(String message) {
        super(message);
    }
}
