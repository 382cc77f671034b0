package dev.hongbao.access;

import dev.hongbao.http.ConnectionCap;
import dev.hongbao.http.Exchange;
import io.vertx.core.Future;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which calls, over HTTP or WebSocket, go to the audit log: every call of the host's backend, and every call refused
 * with 401 or 403. A backend call that may have changed something is answered after its row commits. It does not wait if a command in the same
 * transaction records it. No other call waits for its row. Thread-safe.
 *
 * @param answerMillis for how long a call waits for its row
 */
public record CallLog(AuditLog rows, long answerMillis) {
    /** Calls that move money: their command is in the money's transaction, so the answer waits for no row. */
    private static final Set<String> COMMANDS = Set.of(
            "deposit",
            "withdraw",
            "depositMany",
            "sendPacket",
            "sendPacketForUser",
            "openPool",
            "createDraw",
            "createCampaign",
            "createRain",
            "raiseBudget",
            "reverseTransfer");

    /** Whether the log records a call. @param status as of the answer over HTTP */
    public static boolean isTold(boolean isService, int status) {
        return isService || status == 401 || status == 403;
    }

    /**
     * Writes a call that {@link #isTold}.
     *
     * @param kind under which equal refusals are counted; without a subject
     * @param row called only if it is written
     * @param
     *     isService whether the token was a valid one of the host's backend
     * @param changed the {@code operationId} of a call that may have changed something; null for one that has not
     * @return done when the row is committed; null when there is nothing to wait for
     */
    public @Nullable Future<Void> tell(
            AuditRow.Kind kind, Supplier<AuditRow> row, boolean isService, @Nullable String changed) {
        if (!isService) {
            rows.noteRefused(kind, row);
            return null;
        }
        if (changed == null) {
            rows.note(row.get());
            return null;
        }
        if (COMMANDS.contains(changed)) {
            rows.add(row.get());
            return null;
        }
        return rows.write(row.get()).timeout(answerMillis, TimeUnit.MILLISECONDS);
    }

    /** Writes the HTTP calls of a listener. @param addresses of clients */
    public Exchange.Audits ofHttp(ConnectionCap addresses) {
        return new CallAudit.Log(this, addresses);
    }
}
