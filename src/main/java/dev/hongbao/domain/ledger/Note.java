package dev.hongbao.domain.ledger;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the host application writes on a command that moves money, for the books and for itself.
 *
 * @param reference its own name for the command: 1 to 64 visible ASCII characters; null for none
 * @param reason why, for people: one line of 1 to 200 characters; null for none
 */
public record Note(@Nullable String reference, @Nullable String reason) {
    public static final Note NONE = new Note(null, null);

    private static final Pattern REFERENCE = Pattern.compile("[!-~]{1,64}");

    /** Without control characters and ends of lines. */
    private static final Pattern REASON = Pattern.compile("[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]{1,200}");

    public Note {
        if (reference != null && !REFERENCE.matcher(reference).matches()) {
            throw new IllegalArgumentException("a reference is 1 to 64 visible ASCII characters");
        }
        if (reason != null && !REASON.matcher(reason).matches()) {
            throw new IllegalArgumentException("a reason is one line of 1 to 200 characters");
        }
    }

    /** Whether there is nothing on it. */
    public boolean isEmpty() {
        return reference == null && reason == null;
    }

    /** What it adds to the wish of an idempotent command: nothing when it is empty. A reference has no space; both may read "null". */
    String wish() {
        return isEmpty()
                ? ""
                : " " + (reference == null ? "-" : "=" + reference) + " " + (reason == null ? "-" : "=" + reason);
    }
}
