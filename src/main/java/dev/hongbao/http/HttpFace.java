package dev.hongbao.http;

import dev.hongbao.http.CallsInFlight.WaitingPolls;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.Exchange.HttpMetrics;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Reason;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.CorsHandler;
import io.vertx.ext.web.handler.HttpException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every request of one event loop: Vert.x Web's router, with a route for each call of the contract in the contract's order, and
 * the files behind them. Every call is checked in the same order: path, method, token, limit, role, key, parameters, body,
 * service. Confined to its event loop.
 */
public final class HttpFace implements Handler<HttpServerRequest> {
    private static final String EXCHANGE = "exchange";
    private static final String CALL = "call";

    private static final Problem BAD_ESCAPE = Problem.of(ProblemType.INVALID_REQUEST, Text.of("request.path-escape"));

    private final Vertx vertx;
    private final HttpSettings settings;
    private final PageFiles files;
    private final Gate gate;
    private final HttpMetrics metrics;
    private final Connections connections;
    private final Exchange.Audits audits;
    private final SocketUpgrade sockets;
    private final BodyReader bodies;
    private final Problem bodyTooLarge;
    private final CallsUnderWay underWay = new CallsUnderWay();
    private final WaitingPolls polls;
    private final String basePath;

    @SuppressWarnings("NullAway.Init") // set by serve
    private Router router;

    @SuppressWarnings("NullAway.Init") // set by serve
    private Supplier<Future<Void>> release;

    private boolean stopping;

    /** Makes it on the current event loop. {@link #serve} completes it. @param audits takes the calls */
    public HttpFace(
            Vertx vertx,
            HttpSettings settings,
            PageFiles files,
            Gate gate,
            Exchange.Audits audits,
            HttpMetrics metrics,
            ConnectionCap cap,
            SocketUpgrade sockets) {
        this.vertx = vertx;
        this.settings = settings;
        this.files = files;
        this.gate = gate;
        this.metrics = metrics;
        Context loop = vertx.getOrCreateContext();
        this.connections =
                new Connections(settings, cap, work -> loop.runOnContext(now -> work.run()), System::nanoTime);
        long answerMillis = settings.timeouts().answer().toMillis();
        this.audits = audits;
        this.sockets = sockets;
        this.bodies = new BodyReader(settings);
        this.bodyTooLarge =
                Problem.of(ProblemType.PAYLOAD_TOO_LARGE, Text.of("body.too-large", settings.maxBodyBytes()));
        this.polls = new WaitingPolls(metrics.polls(), gate.inFlight(), answerMillis);
        this.basePath = settings.basePath();
    }

    /**
     * The server of a port on one event loop; several instances share the port.
     *
     * @param opening makes the face of an instance's loop, on that loop; called once
     * @param listening receives the bound port, on the instance's loop
     */
    public static Deployable verticle(
            HttpSettings settings, Supplier<Future<HttpFace>> opening, IntConsumer listening) {
        return new HttpVerticle(settings, opening, listening);
    }

    /**
     * Serves the calls of a contract. Once, before the first request.
     *
     * @param routes for every call, by {@code operationId}
     * @param release is called once, after the last answer of a stop
     */
    public HttpFace serve(Contract contract, Map<String, Route> routes, Supplier<Future<Void>> release) {
        this.router = router(contract, settings.origins(), routes);
        this.release = release;
        return this;
    }

    public WaitingPolls polls() {
        return polls;
    }

    /** Counts a call until its answer among those that a stop waits for. */
    public Route tracked(Route route) {
        return call -> underWay.track(route.answer(call));
    }

    /** Counts a call until its answer: among its caller's, and among those that a stop waits for. */
    public Route counted(Route route) {
        Route tracked = tracked(route);
        return call -> gate.inFlight().run(call.caller(), () -> tracked.answer(call));
    }

    /** Counts each call, by {@code operationId}. The returned map may be changed. */
    public Map<String, Route> counted(Map<String, Route> routes) {
        Map<String, Route> counted = new HashMap<>(routes);
        counted.replaceAll((id, route) -> counted(route));
        return counted;
    }

    /** Refuses the answer of a call that may have waited for long, if its caller was blocked or revoked meanwhile. */
    public Route guarded(Route route) {
        return call -> route.answer(call).map(reply -> {
            Reply refusal = gate.refusal(call.caller());
            return refusal == null ? reply : refusal;
        });
    }

    private Router router(Contract contract, Origins origins, Map<String, Route> routes) {
        Router router = Router.router(vertx);
        if (!origins.isEmpty()) {
            CorsHandler crossed = origins.handler();
            router.route().handler(routing -> {
                routing.response().putHeader(HttpHeaders.VARY, HttpHeaders.ORIGIN);
                if (origins.areCrossed(routing.request())) {
                    Exchange exchange = exchange(routing);
                    routing.addEndHandler(
                            preflight -> connections.answered(exchange.request().connection(), exchange));
                    crossed.handle(routing);
                } else {
                    routing.next();
                }
            });
        }
        String mounted = basePath.isEmpty() ? "" : "(?:" + Pattern.quote(basePath) + ")?";
        for (Contract.Path path : contract.paths()) {
            for (Operation operation : path.operations()) {
                Route route = Objects.requireNonNull(
                        routes.get(operation.id()), () -> "nothing answers the contract's call " + operation.id());
                var matched = router.routeWithRegex(operation.method(), mounted + path.regex());
                if (operation.method().equals(HttpMethod.GET)) {
                    matched.method(HttpMethod.HEAD);
                }
                matched.useNormalizedPath(false)
                        .handler(routing -> admit(routing, path.template(), operation, route))
                        .handler(routing ->
                                answer(routing, operation, route, Objects.requireNonNull(routing.get(CALL))));
            }
        }
        for (Contract.Path path : contract.paths()) {
            router.routeWithRegex(mounted + path.regex())
                    .useNormalizedPath(false)
                    .handler(routing -> refuseMethod(routing, path.allowed()));
        }
        // A GET never reaches this route.
        router.routeWithRegex(mounted + SocketUpgrade.PATH)
                .useNormalizedPath(false)
                .handler(routing -> refuseMethod(routing, "GET"));
        router.route().handler(this::file);
        router.route().failureHandler(this::fail);
        // The router reports a malformed escape in the path only here.
        return router.errorHandler(400, routing -> exchange(routing).refuse(BAD_ESCAPE));
    }

    /** Refuses new calls, answers those under way, and then releases its services. */
    public Future<Void> close() {
        return close(Future::succeededFuture);
    }

    /** @param listener ends what the listener still has, while the calls under way are answered */
    Future<Void> close(Supplier<Future<Void>> listener) {
        stopping = true;
        polls.stopWaiting();
        // A shutdown would wait for open sockets as for answers in flight.
        return sockets.close()
                .eventually(() -> Future.join(
                        listener.get(),
                        underWay.ended(vertx, settings.timeouts().drain())))
                .eventually(release);
    }

    Connections connections() {
        return connections;
    }

    @Override
    public void handle(HttpServerRequest request) {
        if (stopping) {
            begin(request).refuseAndClose(Problem.of(ProblemType.STOPPING));
        } else if (request.method().equals(HttpMethod.GET) && SocketUpgrade.PATH.equals(own(request.path()))) {
            // Not through the router, which wraps the socket: the guards are on the connection itself.
            sockets.upgrade(request, () -> connections.becameSocket(request.connection()), begin(request)::refuse);
        } else {
            router.handle(request);
        }
    }

    /** The path without the base path, if it has it. */
    private @Nullable String own(@Nullable String path) {
        return !basePath.isEmpty() && path != null && path.startsWith(basePath + "/")
                ? path.substring(basePath.length())
                : path;
    }

    /** Answers a request that Netty could not parse. */
    void handleInvalid(HttpServerRequest request) {
        Throwable cause = request.decoderResult().cause();
        Problem problem;
        if (cause instanceof TooLongHttpLineException) {
            problem = Problem.of(ProblemType.URI_TOO_LONG);
        } else if (cause instanceof TooLongHttpHeaderException) {
            problem = Problem.of(ProblemType.HEADER_TOO_LARGE);
        } else {
            problem = Problem.of(ProblemType.INVALID_REQUEST, Text.of("request.malformed"));
        }
        new Exchange(vertx, request, metrics, connections).refuseAndClose(problem);
    }

    /** Answers a request whose body is malformed HTTP. */
    void handleBroken(HttpConnection connection) {
        connections.broken(
                connection,
                exchange ->
                        exchange.refuseAndClose(Problem.of(ProblemType.INVALID_REQUEST, Text.of("request.chunks"))));
    }

    private Exchange begin(HttpServerRequest request) {
        Exchange exchange = new Exchange(vertx, request, metrics, connections);
        connections.began(request.connection(), exchange);
        return exchange;
    }

    private Exchange exchange(RoutingContext routing) {
        Exchange exchange = routing.get(EXCHANGE);
        if (exchange == null) {
            exchange = begin(routing.request());
            routing.put(EXCHANGE, exchange);
        }
        return exchange;
    }

    /** Checks everything before the body. A call without a body, as most claims, is answered at once. */
    private void admit(RoutingContext routing, String template, Operation operation, Route route) {
        Exchange exchange = exchange(routing);
        Exchange.Audit audit = audits.of(template, operation, routing, exchange.id());
        exchange.auditBy(audit);
        exchange.countAs(operation.index());
        Operation.Needs needs = operation.needs();
        Caller caller = null;
        if (needs.token()) {
            caller = gate.admit(exchange, needs.rateLimit());
            if (caller == null) {
                return;
            }
            audit.by(caller);
            if (needs.service() && caller.role() != Role.SERVICE) {
                exchange.refuse(Problem.of(ProblemType.FORBIDDEN).because(Reason.ROLE));
                return;
            }
        }
        IdempotencyKey key = null;
        HttpServerRequest request = exchange.request();
        if (needs.idempotencyKey()) {
            List<String> keys = request.headers().getAll("Idempotency-Key");
            if (keys.isEmpty()) {
                exchange.refuse(Problem.of(ProblemType.IDEMPOTENCY_KEY_MISSING));
                return;
            }
            key = idempotencyKey(keys);
        }
        Map<String, String> path = routing.pathParams();
        operation.checkPath(path);
        Map<String, Object> query = operation.queryParameters(request.query());
        Call call = new Call(exchange, caller, path, query, key, null);
        if (BodyReader.isAbsent(request)) {
            answer(routing, operation, route, call);
        } else {
            routing.put(CALL, call);
            bodies.read(routing);
        }
    }

    private static IdempotencyKey idempotencyKey(List<String> keys) {
        if (keys.size() > 1 || !IdempotencyKey.isValid(keys.get(0))) {
            throw InvalidInputException.of("header/Idempotency-Key", Text.of("header.idempotency-key"));
        }
        return new IdempotencyKey(keys.get(0));
    }

    private void answer(RoutingContext routing, Operation operation, Route route, Call call) {
        JsonObject body = bodies.json(routing, operation);
        call.exchange().begins(body);
        route.answer(body == null ? call : call.with(body)).onComplete(answer -> {
            if (answer.succeeded()) {
                call.exchange()
                        .send(marked(answer.result(), call.key())
                                .below(basePath)
                                .unlessHeldBy(routing));
            } else {
                call.exchange().fail(answer.cause());
            }
        });
    }

    /** The reply, marked if it repeats an earlier call's. @param key null for a call that needs none */
    private static Reply marked(Reply reply, @Nullable IdempotencyKey key) {
        return key != null && key.isRepeated() ? reply.with("Idempotency-Replayed", "true") : reply;
    }

    private void refuseMethod(RoutingContext routing, String allowed) {
        exchange(routing).refuse(Problem.of(ProblemType.METHOD_NOT_ALLOWED), "Allow", allowed);
    }

    private void file(RoutingContext routing) {
        HttpMethod method = routing.request().method();
        String path = Objects.requireNonNull(own(routing.request().path()));
        PageFiles.PageFile file = files.find(path);
        if (file == null) {
            String page = path.equals(basePath) ? path.substring(path.lastIndexOf('/') + 1) + "/" : files.moved(path);
            if (page == null) {
                exchange(routing).refuse(Problem.of(ProblemType.NO_SUCH_PATH));
            } else {
                exchange(routing).send(Reply.of(308, "text/plain", "", "Location", page));
            }
        } else if (!method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD)) {
            refuseMethod(routing, "GET, HEAD");
        } else {
            Reply whole = file.reply(routing.request().getHeader(HttpHeaders.ACCEPT_ENCODING));
            exchange(routing).send(whole.unlessHeldBy(routing));
        }
    }

    /** Answers an exception or a failure status of a handler. */
    private void fail(RoutingContext routing) {
        Exchange exchange = exchange(routing);
        switch (routing.statusCode()) {
            case 400 -> exchange.refuse(Problem.of(ProblemType.INVALID_REQUEST, Text.of("request.no-host")));
            case 404 -> exchange.refuse(Problem.of(ProblemType.NO_SUCH_PATH));
            case 408 -> exchange.refuseAndClose(Problem.of(ProblemType.REQUEST_TIMEOUT));
            case 413 -> exchange.refuseAndClose(bodyTooLarge);
            case 415 -> exchange.refuse(Problem.of(ProblemType.UNSUPPORTED_MEDIA_TYPE), "Accept", "application/json");
            default -> exchange.fail(routing.failure());
        }
    }

    /** Decides whose calls are answered. {@code Access} does; the plumbing of HTTP knows no tokens and limits. Thread-safe. */
    public interface Gate {
        /** The caller, if the call is admitted; otherwise answers the exchange. @param limit counts the call @return null if answered */
        @Nullable
        Caller admit(Exchange exchange, Operation.RateLimit limit);

        /** The refusal of an admitted caller whose token was revoked or who was blocked since; null if neither. */
        @Nullable
        Reply refusal(Caller caller);

        /** Counts the calls at once of each caller. */
        CallsInFlight inFlight();
    }

    /**
     * Reads a request's body with Vert.x Web's BodyHandler, adds a time limit, reads no body as a form, and checks the body against
     * the contract. A refusal fails the routing with 408, 413 or 415. Confined to its event loop.
     */
    private static final class BodyReader {
        private static final Logger LOG = LoggerFactory.getLogger(HttpFace.class);
        private static final String TIMER = "body-timer";

        /** Bytes of {@code null} with some whitespace. */
        private static final int MAX_NULL = 16;

        private final BodyHandler handler;
        private final long timeoutMillis;

        BodyReader(HttpSettings settings) {
            this.handler = BodyHandler.create(false).setBodyLimit(settings.maxBodyBytes());
            this.timeoutMillis = settings.timeouts().body().toMillis();
        }

        /** Reads the body, then continues with the route; not if the client leaves before its end. */
        void read(RoutingContext routing) {
            HttpServerRequest request = routing.request();
            if (isForm(request.headers())) {
                routing.fail(415);
            } else {
                // The server has answered Expect already; the handler would answer again, and refuse other
                // expectations.
                request.headers().remove(HttpHeaders.EXPECT);
                routing.put(TIMER, routing.vertx().setTimer(timeoutMillis, late -> {
                    if (!request.isEnded() && !request.response().ended()) {
                        routing.fail(408);
                    }
                }));
                handler.handle(routing);
                if (!routing.failed()) {
                    request.exceptionHandler(failure -> broken(routing, failure));
                }
            }
        }

        /** Treats a failed request as the fault of its client or connection, whatever exception Vert.x reports. */
        private static void broken(RoutingContext routing, Throwable failure) {
            if (failure instanceof DecoderException && !routing.request().isEnded()) {
                routing.fail(400, failure);
            } else if (failure instanceof Error) {
                routing.fail(failure);
            } else {
                LOG.debug("a request broke", failure);
                routing.fail(new HttpClosedException("the request broke"));
            }
        }

        /**
         * The body that was read; null for none.
         *
         * @throws InvalidInputException when it is not what the contract says
         */
        @Nullable
        JsonObject json(RoutingContext routing, Operation operation) {
            Long timer = routing.get(TIMER);
            if (timer == null) {
                return decode(operation, null);
            }
            routing.vertx().cancelTimer(timer);
            Buffer body = routing.body().buffer();
            boolean isEmpty = body == null || body.length() == 0;
            if (!isEmpty
                    && operation.body() != null
                    && !isJson(routing.request().headers())) {
                throw new HttpException(415);
            }
            return decode(operation, isEmpty ? null : body);
        }

        /** Whether the body is {@code null}, as generated clients send an absent body. */
        private static boolean isNull(Buffer body) {
            return body.length() <= MAX_NULL && body.toString().strip().equals("null");
        }

        private static @Nullable JsonObject decode(Operation operation, @Nullable Buffer body) {
            Schema expected = operation.body();
            if (body == null || isNull(body)) {
                if (operation.needs().body()) {
                    throw InvalidInputException.of("#", Text.of("body.none-given"));
                }
                return null;
            }
            if (expected == null) {
                throw InvalidInputException.of("#", Text.of("body.none-allowed"));
            }
            JsonObject json = StrictJson.COMMAND.decode(body.getBytes());
            expected.check(json, "#");
            return json;
        }

        /** Whether the request has no body at all, so that nothing needs to be read. */
        static boolean isAbsent(HttpServerRequest request) {
            MultiMap headers = request.headers();
            String length = headers.get(HttpHeaders.CONTENT_LENGTH);
            if (length == null && request.version() == HttpVersion.HTTP_2) {
                // Over HTTP/2 a body may come without a header.
                return request.method().equals(HttpMethod.GET)
                        || request.method().equals(HttpMethod.HEAD);
            }
            return (length == null || length.equals("0")) && !headers.contains(HttpHeaders.TRANSFER_ENCODING);
        }

        /** BodyHandler's own test for forms, which it would parse. */
        private static boolean isForm(MultiMap headers) {
            String type = headers.get(HttpHeaders.CONTENT_TYPE);
            if (type == null) {
                return false;
            }
            String lower = type.toLowerCase(Locale.ROOT);
            return lower.startsWith("multipart/form-data") || lower.startsWith("application/x-www-form-urlencoded");
        }

        private static boolean isJson(MultiMap headers) {
            if (headers.contains(HttpHeaders.CONTENT_ENCODING)) {
                return false;
            }
            String type = headers.get(HttpHeaders.CONTENT_TYPE);
            if (type == null) {
                return false;
            }
            String[] parts = type.toLowerCase(Locale.ROOT).split(";", -1);
            for (int i = 1; i < parts.length; i++) {
                String parameter = parts[i].strip();
                if (parameter.startsWith("charset=")
                        && !parameter.replace("\"", "").equals("charset=utf-8")) {
                    return false;
                }
            }
            return parts[0].strip().equals("application/json");
        }
    }

    /** Commands in progress, whether or not their clients still wait: a stop must not close the stores during a send. Thread-safe. */
    public static final class CallsUnderWay {
        private static final long POLL_MILLIS = 10;

        private final AtomicInteger count = new AtomicInteger();

        /** Counts {@code work} until it has ended. */
        public <T> Future<T> track(Future<T> work) {
            count.incrementAndGet();
            return work.onComplete(ended -> count.decrementAndGet());
        }

        public boolean isEmpty() {
            return count.get() == 0;
        }

        /** Completes when none is in progress, or after {@code limit}; never fails. */
        public Future<Void> ended(Vertx vertx, Duration limit) {
            Promise<Void> ended = Promise.promise();
            poll(vertx, System.nanoTime() + limit.toNanos(), ended);
            return ended.future();
        }

        private void poll(Vertx vertx, long deadlineNanos, Promise<Void> ended) {
            if (isEmpty() || System.nanoTime() > deadlineNanos) {
                ended.complete();
            } else {
                vertx.setTimer(POLL_MILLIS, later -> poll(vertx, deadlineNanos, ended));
            }
        }
    }

    /** The WebSocket as the HTTP face sees it. One instance per event loop; only on its loop. */
    public interface SocketUpgrade {
        String PATH = "/v1/socket";

        /** The subprotocol, the only one. */
        String SUBPROTOCOL = "hongbao.v1";

        /** Of a listener without WebSockets. */
        SocketUpgrade NONE = new SocketUpgrade() {
            @Override
            public void upgrade(HttpServerRequest request, Supplier<Runnable> opened, Consumer<Problem> refuse) {
                refuse.accept(Problem.of(ProblemType.NO_SUCH_PATH));
            }

            @Override
            public Future<Void> close() {
                return Future.succeededFuture();
            }
        };

        /**
         * Makes a request a WebSocket, or refuses it.
         *
         * @param opened called once it is a WebSocket; what it gives is called once, when that has ended
         * @param refuse answers the request
         */
        void upgrade(HttpServerRequest request, Supplier<Runnable> opened, Consumer<Problem> refuse);

        /** Refuses new requests, waits for the answers to those in flight, and closes every connection with 1001. */
        Future<Void> close();
    }

    /** Answers one call of the contract. The caller, the parameters and the body have been checked before. Confined to its event loop. */
    @FunctionalInterface
    public interface Route {
        /** Fails, or throws, with an exception that {@link dev.hongbao.http.Problem#ofFailure} knows, or with a fault. */
        Future<Reply> answer(Call call);
    }
}
