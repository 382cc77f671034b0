package dev.hongbao.store.postgres;

import io.vertx.core.http.ConnectionPoolTooBusyException;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The meaning of an error's SQLSTATE for the sender of the statement. */
public final class SqlState {
    private static final Set<String> RETRYABLE = Set.of("40P01", "40001");

    /**
     * Messages of a pool without a connection to give. The wait took too long, a new connection was closed at once, or the server
     * stops and closed the pool. Their exceptions have no type of their own, so only the message identifies them.
     */
    private static final Set<String> NO_CONNECTION =
            Set.of("Timeout", "Timeout waiting for connection", "Connection was closed", "Pool closed");

    /** Beginnings of the messages of a closing connection. Their exceptions have no type of their own, either. */
    private static final List<String> ENDED = List.of(
            "Connection is not active now", "Pending requests failed to be sent due to connection has been closed");

    private SqlState() {}

    /** Deadlock or serialization failure: nothing happened, and the transaction may run again at once. */
    public static boolean isRetryable(Throwable fault) {
        return fault instanceof PgException pg && RETRYABLE.contains(pg.getSqlState());
    }

    /** A settlement met a cursor that another writer moved, or a generation that is over. */
    public static boolean isStaleCursor(Throwable fault) {
        return fault instanceof PgException pg && "HB001".equals(pg.getSqlState());
    }

    /** A settlement met a void claim: its packet is unknown or closed, or its slot or its user is taken. */
    public static boolean isVoidClaim(Throwable fault) {
        return fault instanceof PgException pg
                && ("HB002".equals(pg.getSqlState()) || "23505".equals(pg.getSqlState()));
    }

    /** A trial succeeded; it was undone. */
    public static boolean isUndone(@Nullable Throwable fault) {
        return fault instanceof PgException pg && "HB004".equals(pg.getSqlState());
    }

    /**
     * A settlement does not know the current quarantine: it settles an item of a quarantined unit, or keeps one of a unit that
     * came back.
     */
    public static boolean isUnawareOfQuarantine(Throwable fault) {
        return fault instanceof PgException pg && "HB003".equals(pg.getSqlState());
    }

    /**
     * Whether the data is at fault: it cannot be stored (22), or breaks a constraint (23) or a function's rule (P0). Such a
     * refusal is permanent. A full disk (53) or a missing function (42) is an outage, and the writer waits for its end.
     */
    public static boolean isPoison(@Nullable Throwable fault) {
        if (!(fault instanceof PgException pg)) {
            return false;
        }
        String state = String.valueOf(pg.getSqlState());
        return state.startsWith("22") || state.startsWith("23") || state.startsWith("P0");
    }

    /**
     * Whether Postgres itself refused the statement: nothing of it happened. False for a broken connection, which leaves the
     * effect unknown, and for errors in which the server goes away (class 57, 08, 58).
     */
    public static boolean isRefusal(Throwable fault) {
        if (!(fault instanceof PgException pg)) {
            return false;
        }
        String state = String.valueOf(pg.getSqlState());
        return !state.startsWith("57") && !state.startsWith("08") && !state.startsWith("58");
    }

    /** The statement took too long or was cancelled; nothing happened. */
    public static boolean isCancelled(Throwable fault) {
        return fault instanceof PgException pg && "57014".equals(pg.getSqlState());
    }

    /** Postgres does not know a time zone, or another value of that kind. */
    public static boolean isUnknownZone(Throwable fault) {
        return fault instanceof PgException pg && "22023".equals(pg.getSqlState());
    }

    /** A lock that the statement needs was held for too long; nothing happened. */
    public static boolean isLocked(Throwable fault) {
        return fault instanceof PgException pg && "55P03".equals(pg.getSqlState());
    }

    /** The disk changed a page that the statement needs; nothing happened. Statements without it succeed. */
    public static boolean isDamage(Throwable fault) {
        return fault instanceof PgException pg
                && ("XX001".equals(pg.getSqlState()) || "XX002".equals(pg.getSqlState()));
    }

    /**
     * Whether Postgres is away, stopping, locked, damaged, closed to logins, or out of connections: the same statement may succeed later.
     */
    public static boolean isOutage(Throwable fault) {
        return fault instanceof PgException pg
                ? !isRefusal(fault) || isLocked(fault) || isDamage(fault) || letsNobodyIn(pg)
                : fault instanceof IOException
                        || fault instanceof ClosedConnectionException
                        || fault instanceof ConnectionPoolTooBusyException
                        || fault instanceof TimeoutException
                        || saysNoConnection(String.valueOf(fault.getMessage()));
    }

    /**
     * Whether Postgres cannot be reached or accepts no logins for now: it starts, stops, or has no connection to spare. A later
     * first connection may succeed. False for faults that an operator must repair: a login, a database, a certificate, or (08P01)
     * a setting that a pooler does not know.
     */
    public static boolean isAway(Throwable fault) {
        if (!(fault instanceof PgException pg)) {
            return isOutage(fault) && !(fault instanceof SSLException);
        }
        String state = String.valueOf(pg.getSqlState());
        return (state.startsWith("57") && !state.equals("57P04"))
                || (state.startsWith("08") && !state.equals("08P01"))
                || state.startsWith("53")
                || state.equals("55000");
    }

    /**
     * No connection to spare (53), no login (28) or no such database (3D). Or the database accepts no connections (55000), or not
     * this role (42501 at the login). It is so while a backup takes its place.
     */
    private static boolean letsNobodyIn(PgException fault) {
        String state = String.valueOf(fault.getSqlState());
        return state.startsWith("53")
                || state.startsWith("28")
                || state.startsWith("3D")
                || state.equals("55000")
                || (state.equals("42501") && "FATAL".equals(fault.getSeverity()));
    }

    private static boolean saysNoConnection(String message) {
        return NO_CONNECTION.contains(message) || ENDED.stream().anyMatch(message::startsWith);
    }

    /** The name of the violated constraint; null for any other fault. */
    public static @Nullable String violatedConstraint(Throwable fault) {
        return fault instanceof PgException pg
                        && String.valueOf(pg.getSqlState()).startsWith("23")
                ? Objects.requireNonNullElse(pg.getConstraint(), "")
                : null;
    }

    /** Postgres' detail of the error; empty if there is none, and for any other fault. */
    public static String detail(Throwable fault) {
        return fault instanceof PgException pg ? Objects.requireNonNullElse(pg.getDetail(), "") : "";
    }
}
