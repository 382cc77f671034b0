package dev.hongbao.domain.archive;

/** A month is not archived: the message says what stands in the way, a line each, and what to do. Nothing has changed. */
public final class ArchiveRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ArchiveRefusedException(String message) {
        super(message);
    }
}
