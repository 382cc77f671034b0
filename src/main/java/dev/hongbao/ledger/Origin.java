package dev.hongbao.ledger;

import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.Named;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a command, for the books.
 *
 * @param actor the token's subject; for a command of the server itself, the user it is for
 */
public record Origin(UserId actor, By by, Note note) {
    /** The caller's role. */
    public enum By implements Named {
        /** A plain user's token. */
        USER,
        /** A token of the host application's backend. */
        SERVICE,
        /** The server, without a token: the start money of a demo login. */
        SERVER;

        /** @throws IllegalArgumentException for an unknown role */
        public static By of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /** The origin of a call, from its token. */
    public static Origin of(Caller caller, Note note) {
        return new Origin(caller.user(), caller.role() == Role.SERVICE ? By.SERVICE : By.USER, note);
    }

    /** The origin of a call without a note. */
    public static Origin of(Caller caller) {
        return of(caller, Note.NONE);
    }

    /** The origin of a backend's command. */
    public static Origin service(UserId actor) {
        return new Origin(actor, By.SERVICE, Note.NONE);
    }

    /** The origin of the server's own command for a user. */
    public static Origin server(UserId user) {
        return new Origin(user, By.SERVER, Note.NONE);
    }

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

        /** The note in a body that fits the contract. */
        public static Note read(JsonObject body) {
            return new Note(body.getString("reference"), body.getString("reason"));
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
}
