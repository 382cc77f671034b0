package dev.hongbao.web.ws;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.web.access.TokenVerdict;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import org.jspecify.annotations.Nullable;

/** The user of a connection, and whether that user's frames are admitted now. Confined to the face's event loop. */
final class Authentication {
    private final SocketFace face;
    private final Tokens tokens;

    Authentication(SocketFace face, Tokens tokens) {
        this.face = face;
        this.tokens = tokens;
    }

    /** Answers a frame with a token: the first one names the user, a later one renews the first. */
    void authenticate(Connection connection, String id, String token) {
        TokenVerdict verdict = tokens.verify(token);
        Caller fresh = verdict.caller();
        Caller before = connection.caller();
        if (fresh == null) {
            connection.refuse(id, ofToken(verdict));
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
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED).because(Reason.USER), CloseReason.BLOCKED);
            return;
        }
        if (before != null && !before.user().equals(fresh.user())) {
            connection.refuse(id, Problem.of(ProblemType.FORBIDDEN, Reason.USER, Text.of("socket.other-user")));
            return;
        }
        if (before == null && !face.guards().enterUser(fresh.user())) {
            connection.refuse(
                    id, Problem.of(ProblemType.TOO_MANY_REQUESTS, Reason.CONNECTIONS, Text.of("socket.close-another")));
            connection.close(CloseReason.TOO_MANY_CONNECTIONS);
            return;
        }
        connection.send(ServerFrames.authenticated(id, fresh));
        connection.authenticated(fresh);
    }

    /** The caller. @param id null for none @return null if the frame is refused, and answered so */
    @Nullable
    Caller callerOf(Connection connection, @Nullable String id) {
        Caller caller = connection.caller();
        if (caller == null) {
            connection.refuse(id, Problem.of(ProblemType.UNAUTHENTICATED, Reason.MISSING, Text.of("socket.no-auth")));
            return null;
        }
        if (face.isStopping()) {
            connection.refuse(id, Problem.of(ProblemType.STOPPING));
            return null;
        }
        if (face.isBlocked(caller)) {
            turnAway(connection, id, Problem.of(ProblemType.BLOCKED).because(Reason.USER), CloseReason.BLOCKED);
            return null;
        }
        if (face.isRevoked(caller)) {
            turnAway(
                    connection,
                    id,
                    ofToken(TokenVerdict.refused(TokenVerdict.Fault.REVOKED)),
                    CloseReason.TOKEN_REFUSED);
            return null;
        }
        return caller;
    }

    private static Problem ofToken(TokenVerdict refused) {
        return Problem.ofToken(refused.reason(), refused.sentence());
    }

    private static void turnAway(Connection connection, @Nullable String id, Problem why, CloseReason reason) {
        connection.refuse(id, why);
        connection.close(reason);
    }
}
