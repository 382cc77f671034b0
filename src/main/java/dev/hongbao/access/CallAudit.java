package dev.hongbao.access;

import dev.hongbao.http.ConnectionCap;
import dev.hongbao.http.Exchange;
import dev.hongbao.http.Operation;
import dev.hongbao.http.ProblemType;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Role;
import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes one HTTP call to the audit log, see {@link CallLog}. Confined to its event loop. */
final class CallAudit implements Exchange.Audit {
    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)}");

    private final Log log;
    private final String route;
    private final Operation operation;
    private final RoutingContext routing;
    private final String requestId;
    private @Nullable Caller caller;
    private @Nullable String reference;
    private boolean begun;
    private boolean told;

    /** The log for the calls of one listener. @param addresses of clients */
    public record Log(CallLog calls, ConnectionCap addresses) implements Exchange.Audits {
        @Override
        public CallAudit of(String route, Operation operation, RoutingContext routing, String requestId) {
            return new CallAudit(this, route, operation, routing, requestId);
        }
    }

    private CallAudit(Log log, String route, Operation operation, RoutingContext routing, String requestId) {
        this.log = log;
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
                who(),
                new AuditRow.What(operation.method().name(), route, null),
                new AuditRow.Outcome(status, problem == null ? null : problem.wireName()));
        boolean changes = begun && !operation.method().equals(HttpMethod.GET);
        return log.calls.tell(kind, () -> row(kind), isService, changes ? operation.id() : null);
    }

    private AuditRow.Who who() {
        return caller == null
                ? AuditRow.Who.at(log.addresses.addressOf(routing.request()).key())
                : AuditRow.Who.of(caller);
    }

    private AuditRow row(AuditRow.Kind kind) {
        return new AuditRow(
                kind.who(),
                requestId,
                new AuditRow.What(operation.method().name(), route, AuditRow.text(subject())),
                kind.outcome(),
                AuditRow.text(reference),
                1);
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
