package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Role;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Operation;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Every request of one event loop: the claim first, then the contract's other calls, then the documents. All of them keep
 * the same order: path, method, token, limit, role, key, parameters, body, service. Only on its loop.
 */
final class HttpFace implements Handler<HttpServerRequest> {
    private static final String CLAIM = "claim";
    private static final String EVENTS = "events";
    private static final String EXPORT = "exportPlays";

    private final Vertx vertx;
    private final Contract contract;
    private final Documents documents;
    private final HttpMetrics metrics;
    private final Connections connections;
    private final RateLimits limits;
    private final CallsInFlight inFlight;
    private final Gate gate;
    private final BodyReader bodies;
    private final ClaimRoute claimRoute;
    private final DemoRoutes demoRoutes;
    private final EventsRoute eventsRoute;
    private final SocketUpgrade sockets;
    private final Map<String, Routes.Route> routes;
    private final DrawRoutes drawRoutes;
    private final CallsUnderWay ongoing;
    private boolean stopping;

    HttpFace(
            Vertx vertx,
            HttpSettings settings,
            HttpVerticle.Shared shared,
            Connections connections,
            Services services,
            CallsUnderWay ongoing) {
        this.ongoing = ongoing;
        this.vertx = vertx;
        this.contract = shared.contract();
        this.documents = shared.documents();
        this.metrics = shared.metrics();
        this.connections = connections;
        this.limits = shared.limits();
        this.inFlight = shared.inFlight();
        this.gate = new Gate(shared.tokens());
        this.bodies = new BodyReader(vertx, settings);
        this.claimRoute = new ClaimRoute(contract.operation(CLAIM), gate, limits, bodies, services.claims(), ongoing);
        this.sockets = services.sockets();
        long answerMillis = settings.answerTimeout().toMillis();
        this.demoRoutes = new DemoRoutes(shared.demo(), services.wallets(), limits, bodies, answerMillis);
        this.eventsRoute = new EventsRoute(services.feed(), metrics.polls(), inFlight, answerMillis);
        this.drawRoutes = new DrawRoutes(services.draws(), services.plays());
        this.routes = new HashMap<>(new Routes(services, limits).byOperation());
        this.routes.putAll(drawRoutes.byOperation());
        for (Operation operation : contract.operations()) {
            if (!isSpecial(operation) && !routes.containsKey(operation.id())) {
                throw new IllegalStateException("nothing answers the contract's call " + operation.id());
            }
        }
    }

    /** Whether a route of its own answers it. */
    private static boolean isSpecial(Operation operation) {
        return operation.id().equals(CLAIM)
                || operation.id().equals(EVENTS)
                || operation.id().equals(EXPORT)
                || !operation.needsToken();
    }

    /** From now on new work is refused; answers in flight are still given. */
    void refuseNewWork() {
        stopping = true;
        eventsRoute.stopWaiting();
    }

    @Override
    public void handle(HttpServerRequest request) {
        Exchange exchange = new Exchange(vertx, request, metrics, connections);
        connections.began(request.connection(), exchange);
        try {
            if (stopping) {
                exchange.refuseAndClose(Problem.of(ProblemType.STOPPING));
                return;
            }
            PacketId claimed = ClaimRoute.packetOf(request);
            if (claimed != null) {
                claimRoute.answer(exchange, claimed);
            } else {
                route(exchange);
            }
        } catch (InvalidInputException invalid) {
            exchange.refuse(Problem.of(invalid));
        } catch (RuntimeException fault) {
            exchange.fail(fault);
        }
    }

    /** What Netty could not read as a request. */
    void handleInvalid(HttpServerRequest request) {
        Throwable cause = request.decoderResult().cause();
        Problem problem;
        if (cause instanceof TooLongHttpLineException) {
            problem = Problem.of(ProblemType.URI_TOO_LONG);
        } else if (cause instanceof TooLongHttpHeaderException) {
            problem = Problem.of(ProblemType.HEADER_TOO_LARGE);
        } else {
            problem = Problem.of(ProblemType.INVALID_REQUEST, "Send a well-formed HTTP/1.1 request.");
        }
        new Exchange(vertx, request, metrics, connections).refuseAndClose(problem);
    }

    /** The body of the request in flight on a connection is no HTTP. */
    void handleBroken(HttpConnection connection) {
        connections.broken(
                connection,
                exchange -> exchange.refuseAndClose(
                        Problem.of(ProblemType.INVALID_REQUEST, "Send chunks as RFC 9112 says.")));
    }

    private void route(Exchange exchange) {
        HttpServerRequest request = exchange.request();
        String path = request.path();
        if (path == null || !path.startsWith("/")) {
            exchange.refuse(Problem.of(ProblemType.NO_SUCH_PATH));
            return;
        }
        if (path.equals(SocketUpgrade.PATH) && request.method().equals(HttpMethod.GET)) {
            sockets.upgrade(request, () -> connections.becameSocket(request.connection()), exchange::refuse);
            return;
        }
        String[] segments = Contract.segments(path);
        Operation operation = contract.find(request.method(), segments);
        if (operation != null) {
            exchange.countAs(operation.index());
            if (operation.id().equals(CLAIM)) {
                claimRoute.answerUnusual(exchange, segments);
            } else if (!operation.needsToken()) {
                demoRoutes.answer(exchange, operation);
            } else {
                call(exchange, operation, segments);
            }
            return;
        }
        String allowed = contract.allowed(segments);
        Reply document = allowed.isEmpty() ? documents.find(path) : null;
        if (document != null && isRead(request.method())) {
            exchange.send(document.status() == 200 ? documents.conditional(document, request) : document);
        } else if (document != null || !allowed.isEmpty()) {
            exchange.refuse(
                    Problem.of(ProblemType.METHOD_NOT_ALLOWED), "Allow", document != null ? "GET, HEAD" : allowed);
        } else {
            exchange.refuse(Problem.of(ProblemType.NO_SUCH_PATH));
        }
    }

    private static boolean isRead(HttpMethod method) {
        return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    }

    private void call(Exchange exchange, Operation operation, String[] segments) {
        HttpServerRequest request = exchange.request();
        Caller caller = gate.admit(exchange, limits::call);
        if (caller == null) {
            return;
        }
        boolean serviceOnly =
                Routes.SERVICE_ONLY.contains(operation.id()) || DrawRoutes.SERVICE_ONLY.contains(operation.id());
        if (serviceOnly && caller.role() != Role.SERVICE) {
            exchange.refuse(Problem.of(ProblemType.FORBIDDEN));
            return;
        }
        IdempotencyKey key = null;
        if (operation.needsIdempotencyKey()) {
            key = idempotencyKey(exchange);
            if (key == null) {
                return;
            }
        }
        Map<String, String> path = operation.pathParameters(segments);
        Map<String, Object> query = operation.queryParameters(request.query());
        IdempotencyKey given = key;
        bodies.read(exchange, operation, body -> answer(exchange, operation, caller, path, query, given, body));
    }

    /** Null when it is missing or malformed, and the exchange is answered. */
    private static @Nullable IdempotencyKey idempotencyKey(Exchange exchange) {
        List<String> keys = exchange.request().headers().getAll("Idempotency-Key");
        if (keys.isEmpty()) {
            exchange.refuse(Problem.of(ProblemType.IDEMPOTENCY_KEY_MISSING));
            return null;
        }
        if (keys.size() > 1 || !IdempotencyKey.isValid(keys.get(0))) {
            throw InvalidInputException.of(
                    "header/Idempotency-Key", "must be given once, with 1 to 128 visible ASCII characters");
        }
        return new IdempotencyKey(keys.get(0));
    }

    private void answer(
            Exchange exchange,
            Operation operation,
            Caller caller,
            Map<String, String> path,
            Map<String, Object> query,
            @Nullable IdempotencyKey key,
            @Nullable JsonObject body) {
        if (operation.id().equals(EVENTS)) {
            eventsRoute.answer(exchange, caller, path, query);
            return;
        }
        Call call = new Call(caller, path, query, exchange.request().headers(), key, body);
        if (operation.id().equals(EXPORT)) {
            drawRoutes.export(exchange, call);
            return;
        }
        Routes.Route route = Objects.requireNonNull(routes.get(operation.id()));
        try {
            inFlight.run(caller, () -> ongoing.track(route.answer(call)))
                    .onSuccess(exchange::send)
                    .onFailure(exchange::fail);
        } catch (RuntimeException fault) {
            exchange.fail(fault);
        }
    }
}
