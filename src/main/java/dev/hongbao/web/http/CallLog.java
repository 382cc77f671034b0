package dev.hongbao.web.http;

import dev.hongbao.domain.trail.AuditLog;
import dev.hongbao.domain.trail.AuditRow;
import io.vertx.core.Future;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which calls are in the audit log, and which of them wait for their row, whatever they come by: all that the host's backend does, and who is
 * refused. A call of the host that may have changed something is answered when its row is committed, unless a command tells of it in the
 * same transaction; all other rows cost the call nothing. Thread-safe.
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

    /** Whether the log is told of a call: the crowd's other calls cost nothing. @param status as of the answer over HTTP */
    public static boolean isTold(boolean isService, int status) {
        return isService || status == 401 || status == 403;
    }

    /**
     * Tells of a call that {@link #isTold}.
     *
     * @param kind what is refused alike is counted as; without a subject
     * @param row is asked only when it is to be written
     * @param isService whether a token of the host's backend was believed
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
}
