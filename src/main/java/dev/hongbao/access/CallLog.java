package dev.hongbao.access;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.engine.Loop;
import dev.hongbao.http.ConnectionCap;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.Exchange;
import dev.hongbao.http.ProblemType;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
        return Loop.current().timeout(rows.write(row.get()), answerMillis);
    }

    /** Writes the HTTP calls of a listener. @param addresses of clients */
    public Exchange.Audits ofHttp(ConnectionCap addresses) {
        return (route, operation, routing, requestId) ->
                new CallAudit(this, addresses, route, operation, routing, requestId);
    }

    /** Writes one HTTP call to the audit log, see {@link CallLog}. Confined to its event loop. */
    private static final class CallAudit implements Exchange.Audit {
        private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)}");

        private final CallLog calls;
        private final ConnectionCap addresses;
        private final String route;
        private final Operation operation;
        private final RoutingContext routing;
        private final String requestId;
        private @Nullable Caller caller;
        private @Nullable String reference;
        private boolean begun;
        private boolean told;

        CallAudit(
                CallLog calls,
                ConnectionCap addresses,
                String route,
                Operation operation,
                RoutingContext routing,
                String requestId) {
            this.calls = calls;
            this.addresses = addresses;
            this.route = route;
            this.operation = operation;
            this.routing = routing;
            this.requestId = requestId;
        }

        @Override
        public void by(Caller believed) {
            this.caller = believed;
        }

        @Override
        public void begins(@Nullable JsonObject body) {
            this.begun = true;
            this.reference = body != null && body.getValue("reference") instanceof String text ? text : null;
        }

        @Override
        public @Nullable Future<Void> tell(int status, @Nullable ProblemType problem) {
            boolean isService = caller != null && caller.role() == Role.SERVICE;
            if (told || !CallLog.isTold(isService, status)) {
                return null;
            }
            told = true;
            AuditRow.Kind kind = new AuditRow.Kind(
                    who(), operation.method().name(), route, null, status, problem == null ? null : problem.wireName());
            boolean changes = begun && !operation.method().equals(HttpMethod.GET);
            return calls.tell(kind, () -> row(kind), isService, changes ? operation.id() : null);
        }

        private AuditRow.Who who() {
            return caller == null
                    ? AuditRow.Who.at(addresses.addressOf(routing.request()).key())
                    : AuditRow.Who.of(caller);
        }

        private AuditRow row(AuditRow.Kind kind) {
            return new AuditRow(kind.about(AuditRow.text(subject())), requestId, AuditRow.text(reference), 1);
        }

        /** The path parameters in their order, joined by slashes. */
        private String subject() {
            return PARAMETER
                    .matcher(route)
                    .results()
                    .map(parameter -> routing.pathParams().getOrDefault(parameter.group(1), ""))
                    .collect(Collectors.joining("/"));
        }
    }
}
