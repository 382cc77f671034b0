package dev.hongbao.cli;

import dev.hongbao.config.SecretUrl;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** A failure's message for a person at a terminal. */
final class Failure {
    private static final int MAX_CAUSES = 5;

    private Failure() {}

    /** The messages of the failure and its causes, each once, outermost first; without passwords of URLs. */
    static String describe(Throwable failure) {
        Throwable outer = failure;
        while ((outer instanceof ExecutionException || outer instanceof CompletionException)
                && outer.getCause() != null) {
            outer = outer.getCause();
        }
        StringBuilder text = new StringBuilder(message(outer));
        Throwable cause = outer.getCause();
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            String next = message(cause);
            if (text.indexOf(next) < 0) {
                text.append(": ").append(next);
            }
            cause = cause.getCause();
        }
        return SecretUrl.redact(text.toString());
    }

    /** An exception of the JDK often says only "x.y": its kind is the message then. */
    private static String message(Throwable failure) {
        String message = failure.getMessage();
        String kind = failure.getClass().getSimpleName();
        if (message == null || message.isBlank()) {
            return kind;
        }
        return failure instanceof java.io.IOException && !message.contains(" ") ? kind + " " + message : message;
    }
}
