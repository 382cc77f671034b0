package dev.hongbao.domain.ledger;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import java.util.Locale;

/**
 * Who asked for a command, for the books.
 *
 * @param actor the token's subject; for a command of the server itself, for whom it is
 */
public record Origin(UserId actor, By by, Note note) {
    /** In which role. */
    public enum By {
        /** A plain user's token. */
        USER,
        /** A token of the host application's backend. */
        SERVICE,
        /** The server, without a token: the start money of a demo login. */
        SERVER;

        /** The name in the API and in the tables. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * @throws IllegalArgumentException when there is no such role
         */
        public static By of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /** Of a call, as its token says. */
    public static Origin of(Caller caller, Note note) {
        return new Origin(caller.user(), caller.role() == Role.SERVICE ? By.SERVICE : By.USER, note);
    }

    /** Of a call that notes nothing. */
    public static Origin of(Caller caller) {
        return of(caller, Note.NONE);
    }

    /** Of a command of the host application's backend. */
    public static Origin service(UserId actor) {
        return new Origin(actor, By.SERVICE, Note.NONE);
    }

    /** Of what the server does by itself for a user. */
    public static Origin server(UserId user) {
        return new Origin(user, By.SERVER, Note.NONE);
    }
}
