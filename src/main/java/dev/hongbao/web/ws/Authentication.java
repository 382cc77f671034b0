package dev.hongbao.web.ws;

import dev.hongbao.common.values.Caller;
import dev.hongbao.web.access.TokenVerdict;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Who the user of a connection is, and whether he may ask for anything now. Confined to the face's event loop. */
final class Authentication {
    private final SocketFace face;
    private final Tokens tokens;

    Authentication(SocketFace face, Tokens tokens) {
        this.face = face;
        this.tokens = tokens;
    }

    /** Answers a frame with a token: the first one says who it is, a later one goes on. */
    void authenticate(Connection connection, String id, String token) {
        TokenVerdict verdict = tokens.verify(token);
        Caller fresh = verdict.caller();
        Caller before = connection.caller();
        if (fresh == null) {
            String why = Objects.requireNonNull(verdict.fault()).sentence();
            connection.refuse(id, Problem.ofToken(why));
            if (before == null) {
                connection.close(CloseReason.TOKEN_REFUSED);
            }
            return;
        }
        Problem uncertified = face.guards().certificate().refusal(fresh, connection.sslSession());
        if (uncertified != null) {
            turnAway(connection, id, uncertified, CloseReason.TOKEN_REFUSED);
            return;
        }
        if (face.isBlocked(fresh)) {
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED), CloseReason.BLOCKED);
            return;
        }
        if (before != null && !before.user().equals(fresh.user())) {
            connection.refuse(id, Problem.of(ProblemType.FORBIDDEN, "A connection keeps its user; open another one."));
            return;
        }
        if (before == null && !face.guards().enterUser(fresh.user())) {
            connection.refuse(
                    id, Problem.of(ProblemType.TOO_MANY_REQUESTS, "Close another connection of this user first."));
            connection.close(CloseReason.TOO_MANY_CONNECTIONS);
            return;
        }
        connection.send(ServerFrames.authenticated(id, fresh));
        connection.authenticated(fresh);
    }

    /** Who asks. @param id null for none @return null when nobody may ask now, and the frame is answered */
    @Nullable
    Caller callerOf(Connection connection, @Nullable String id) {
        Caller caller = connection.caller();
        if (caller == null) {
            connection.refuse(id, Problem.of(ProblemType.UNAUTHENTICATED, "Send an auth frame first."));
            return null;
        }
        if (face.isStopping()) {
            connection.refuse(id, Problem.of(ProblemType.STOPPING));
            return null;
        }
        if (face.isBlocked(caller)) {
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED), CloseReason.BLOCKED);
            return null;
        }
        if (face.isRevoked(caller)) {
            turnAway(connection, id, Problem.ofToken(TokenVerdict.Fault.REVOKED.sentence()), CloseReason.TOKEN_REFUSED);
            return null;
        }
        return caller;
    }

    private static void turnAway(Connection connection, @Nullable String id, Problem why, CloseReason reason) {
        connection.refuse(id, why);
        connection.close(reason);
    }
}
