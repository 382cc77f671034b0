package dev.hongbao.web.ws;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Role;
import dev.hongbao.domain.trail.AuditRow;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import dev.hongbao.web.http.CallLog;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's frame, until it is answered. The audit log records it as the corresponding HTTP call, with the method {@code FRAME}.
 * Confined to the connection's event loop.
 */
final class Asked {
    private static final Logger LOG = LoggerFactory.getLogger(Asked.class);

    /** The corresponding HTTP call. @param operation null if it changes nothing @param names the field that the path contains */
    private record Call(@Nullable String operation, String route, String names) {}

    private static final Map<String, Call> CALLS = Map.of(
            "join", new Call(null, "/v1/groups/{group}/events", "group"),
            "send", new Call("sendPacket", "/v1/packets", ""),
            "open", new Call("openPool", "/v1/campaigns/{campaign}/pools", "campaign"),
            "claim", new Call("claim", "/v1/packets/{packet}/claims", "packet"),
            "play", new Call("play", "/v1/draws/{draw}/plays", "draw"));

    private final Connection connection;
    private final Caller caller;
    private final JsonObject frame;
    private final Call call;

    private Asked(Connection connection, Caller caller, JsonObject frame, Call call) {
        this.connection = connection;
        this.caller = caller;
        this.frame = frame;
        this.call = call;
    }

    /** @param frame fits its schema; null for a type without a corresponding HTTP call */
    static @Nullable Asked of(Connection connection, Caller caller, String type, JsonObject frame) {
        Call call = CALLS.get(type);
        return call == null ? null : new Asked(connection, caller, frame, call);
    }

    Connection connection() {
        return connection;
    }

    Caller caller() {
        return caller;
    }

    /** The frame's id, which its answers repeat. */
    String id() {
        return frame.getString("id");
    }

    /** Answers. @param status of the same answer over HTTP */
    void answer(int status, String answer) {
        told(new AuditRow.Outcome(status, null), () -> connection.send(answer));
    }

    void refuse(Problem problem) {
        told(Connection.outcome(problem), () -> connection.tell(id(), problem));
    }

    /** Answers a failed request: a refusal as its problem, anything else with one log line. */
    void fail(Throwable failure) {
        Problem problem = Problem.ofFailure(failure);
        if (problem == null) {
            FrameReader.failed(caller, frame, failure);
            problem = Problem.of(ProblemType.INTERNAL_ERROR);
        }
        refuse(problem);
    }

    private void told(AuditRow.Outcome outcome, Runnable answer) {
        boolean isService = caller.role() == Role.SERVICE;
        if (!CallLog.isTold(isService, outcome.status())) {
            answer.run();
            return;
        }
        AuditRow.Kind kind = new AuditRow.Kind(
                AuditRow.Who.of(caller), new AuditRow.What(Connection.METHOD, call.route, null), outcome);
        Future<Void> written = connection.face().audit().tell(kind, () -> row(kind), isService, call.operation);
        if (written == null) {
            answer.run();
            return;
        }
        connection.face().requests().track(written).onComplete(done -> {
            if (done.succeeded()) {
                answer.run();
            } else {
                LOG.warn(
                        "FRAME {} is not in the audit log: {}",
                        call.route,
                        done.cause().toString());
                connection.tell(id(), Problem.of(ProblemType.UNKNOWN));
            }
        });
    }

    private AuditRow row(AuditRow.Kind kind) {
        // In a send it is an object, in a claim a packet's id.
        Object packet = frame.getValue("packet");
        String named = call.names.isEmpty() ? null : frame.getString(call.names);
        return new AuditRow(
                kind.who(),
                null,
                new AuditRow.What(Connection.METHOD, call.route, AuditRow.text(named)),
                kind.outcome(),
                packet instanceof JsonObject sent ? AuditRow.text(sent.getString("reference")) : null,
                1);
    }
}
