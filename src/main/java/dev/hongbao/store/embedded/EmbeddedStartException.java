package dev.hongbao.store.embedded;

import org.jspecify.annotations.Nullable;

/** An embedded server could not be started. The message is for the person at the terminal. */
class EmbeddedStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public EmbeddedStartException(String message) {
        super(message);
    }

    public EmbeddedStartException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
