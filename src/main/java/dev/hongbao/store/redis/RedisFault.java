package dev.hongbao.store.redis;

import io.vertx.redis.client.impl.types.ErrorType;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The failure of a Redis command. Its kind shows whether the command may have run. Carries no stack trace: callers handle it. */
public final class RedisFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The answer to a connection beyond {@code maxclients}. */
    private static final String NO_ROOM = "ERR max number of clients reached";

    private static final Pattern MISSING = Pattern.compile("(?:ERR unknown (?:sub)?command|NOPERM )[^']*'([^']+)'");

    public enum Kind {
        /** The script is not in the cache: recovery did not prepare this Redis. The script did not run. */
        NO_SCRIPT,
        /** The generation's journal is gone; the script changed nothing. */
        NO_JOURNAL,
        /** The journal is at its limit of unsettled entries; the script changed nothing. */
        JOURNAL_FULL,
        /** A replica answered: the primary moved. The command changed nothing. */
        READ_ONLY,
        /** Another node of the cluster has the key's slot. The command changed nothing. */
        MOVED,
        /** The key's slot is moving to another node. The command changed nothing, and may be sent again. */
        MOVING,
        /** Redis refused before it began: out of memory, disk full, loading. */
        REFUSED,
        /** The connection broke or the reply was late: the command may have run. */
        LOST,
        /** No connection: the command was not sent. */
        DOWN,
        /** Any other error: a fault of the script or of its keys. */
        ERROR
    }

    private final Kind kind;

    private RedisFault(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    static RedisFault down() {
        return down("no connection to Redis");
    }

    static RedisFault down(String why) {
        return new RedisFault(Kind.DOWN, why);
    }

    /** @param why begins with LOADING, like Redis' own refusal */
    static RedisFault loading(String why) {
        return new RedisFault(kindOf(why), why);
    }

    static RedisFault of(Throwable fault) {
        if (fault instanceof RedisFault known) {
            return known;
        }
        String message = String.valueOf(fault.getMessage());
        if (fault instanceof ErrorType) {
            return new RedisFault(kindOf(message), message);
        }
        return new RedisFault(Kind.LOST, fault.getClass().getSimpleName() + " " + message);
    }

    private static Kind kindOf(String message) {
        String code = message.split(" ", 2)[0].toUpperCase(Locale.ROOT);
        return switch (code) {
            case "NOSCRIPT" -> Kind.NO_SCRIPT;
            case "NO_JOURNAL" -> Kind.NO_JOURNAL;
            case "JOURNAL_FULL" -> Kind.JOURNAL_FULL;
            case "READONLY" -> Kind.READ_ONLY;
            case "MOVED" -> Kind.MOVED;
            case "ASK", "TRYAGAIN" -> Kind.MOVING;
            case "CONNECTION_CLOSED" -> Kind.LOST; // the client's word, not Redis', for commands in flight
            case "OOM", "MISCONF", "LOADING", "BUSY", "MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN" -> Kind.REFUSED;
            default -> Kind.ERROR;
        };
    }

    public Kind kind() {
        return kind;
    }

    /** Whether the map of slots may be old. */
    boolean tellsOfAnOldMap() {
        return switch (kind) {
            case MOVED, DOWN, LOST, READ_ONLY -> true;
            default -> String.valueOf(getMessage()).startsWith("CLUSTERDOWN");
        };
    }

    /**
     * Host and port of the node that MOVED names; null if it names none.
     *
     * @param asked host and port of the answering node
     */
    @Nullable
    String movedTo(String asked) {
        String[] words = String.valueOf(getMessage()).split(" ", -1);
        int colon = words.length == 3 ? words[2].lastIndexOf(':') : -1;
        return colon < 0 || words[2].startsWith("?")
                ? null
                : ClusterMap.address(words[2].substring(0, colon), words[2].substring(colon + 1), asked);
    }

    /**
     * Whether Redis cannot be reached, or cannot work now: a later first connection may succeed. False for faults that an
     * operator must repair: a password, a certificate, a missing database.
     */
    public static boolean isAway(Throwable fault) {
        if (fault instanceof RedisFault || fault instanceof ErrorType) {
            RedisFault known = of(fault);
            return switch (known.kind) {
                case DOWN, LOST, REFUSED -> true;
                default -> String.valueOf(known.getMessage()).startsWith(NO_ROOM);
            };
        }
        return fault instanceof TimeoutException || (fault instanceof IOException && !(fault instanceof SSLException));
    }

    /** Whether a key holds another type than the command needs. */
    public static boolean isWrongType(Throwable fault) {
        return is(fault, Kind.ERROR) && String.valueOf(fault.getMessage()).startsWith("WRONGTYPE");
    }

    /** The command that this Redis lacks or forbids; null for any other fault. */
    @Nullable
    String missingCommand() {
        Matcher named = MISSING.matcher(String.valueOf(getMessage()));
        return named.lookingAt() ? named.group(1).toLowerCase(Locale.ROOT) : null;
    }

    public static boolean is(Throwable fault, Kind kind) {
        return fault instanceof RedisFault redis && redis.kind == kind;
    }
}
