package dev.hongbao.ledger;

import dev.hongbao.values.Caller;
import dev.hongbao.values.Named;
import dev.hongbao.values.Role;
import dev.hongbao.values.UserId;
import java.util.Locale;

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
}
