package dev.hongbao.ledger;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The host application's note on a command that moves money.
 *
 * @param reference its own name for the command: 1 to 64 visible ASCII characters; null for none
 * @param reason for people: one line of 1 to 200 characters; null for none
 */
public record Note(@Nullable String reference, @Nullable String reason) {
    public static final Note NONE = new Note(null, null);

    private static final Pattern REFERENCE = Pattern.compile("[!-~]{1,64}");

    /** No control characters and no line ends. */
    private static final Pattern REASON = Pattern.compile("[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]{1,200}");

    public Note {
        if (reference != null && !REFERENCE.matcher(reference).matches()) {
            throw new IllegalArgumentException("a reference is 1 to 64 visible ASCII characters");
        }
        if (reason != null && !REASON.matcher(reason).matches()) {
            throw new IllegalArgumentException("a reason is one line of 1 to 200 characters");
        }
    }

    public boolean isEmpty() {
        return reference == null && reason == null;
    }

    /** The note's part of an idempotent command's wish; empty for an empty note. A reference has no space; both may read "null". */
    String wish() {
        return isEmpty()
                ? ""
                : " " + (reference == null ? "-" : "=" + reference) + " " + (reason == null ? "-" : "=" + reason);
    }
}
