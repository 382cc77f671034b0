package dev.hongbao.http;

import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.Problem.FaultLog;
import dev.hongbao.values.Caller;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.util.AsciiString;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request and its one answer. Confined to the request's event loop. */
public final class Exchange {
    /** Writes one call down, once. */
    public interface Audit {
        /** Sets the caller, once its token is accepted. */
        void by(Caller believed);

        /** Marks the call as one that may have changed something. @param body null for none */
        void begins(@Nullable JsonObject body);

        /**
         * Writes the call's end.
         *
         * @param problem null for an answer that refuses nothing
         * @return done when it is written; null when there is nothing to wait for
         */
        @Nullable
        Future<Void> tell(int status, @Nullable ProblemType problem);
    }

    /** Writes a listener's calls into the audit log. */
    public interface Audits {
        /**
         * @param route as the contract writes the path
         * @param requestId what names the request in its answer
         */
        Audit of(String route, Operation operation, RoutingContext routing, String requestId);
    }

    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private static final FaultLog FAULTS = new FaultLog(LOG, System::nanoTime);

    /** The access log, if {@code log.access} is on: one line per answer, without the query, which may name users. */
    private static final Logger ACCESS = LoggerFactory.getLogger("dev.hongbao.http.access");

    private static final CharSequence POLICY = AsciiString.cached("ratelimit-policy");
    private static final CharSequence LIMIT = AsciiString.cached("ratelimit");
    private static final CharSequence CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final CharSequence NOSNIFF = AsciiString.cached("nosniff");
    private static final CharSequence NO_STORE = AsciiString.cached("no-store");
    private static final String VARY = "Vary";

    /** Time in which a refused body is read and discarded, so that a reset does not lose the answer. */
    private static final long LINGER_MILLIS = 1_000;

    /** HTTP/2's error code NO_ERROR (RFC 9113, 7): the rest of a refused body is not read. */
    private static final long NO_ERROR = 0x0;

    /** HTTP/2's error code INTERNAL_ERROR: the answer is incomplete. */
    private static final long STREAM_INTERNAL_ERROR = 0x2;

    /** The call may have taken effect, but the audit log lacks it. Repeating the call gives the result and writes the row. */
    private static final Reply UNWRITTEN = Reply.problem(Problem.of(ProblemType.UNKNOWN), "Retry-After", "1");

    private final Vertx vertx;
    private final HttpServerRequest request;
    private final HttpMetrics metrics;
    private final Connections connections;
    private final AnswerWriter writer;
    private final String id;
    private final long begunNanos = System.nanoTime();
    private int route;
    private RateDecision rate = RateDecision.UNLIMITED;
    private @Nullable Audit audit;
    private boolean isCounted;

    Exchange(Vertx vertx, HttpServerRequest request, HttpMetrics metrics, Connections connections) {
        this.vertx = vertx;
        this.request = request;
        this.metrics = metrics;
        this.connections = connections;
        this.writer = new AnswerWriter(request, connections);
        this.id = RequestId.of(request);
        this.route = metrics.other();
    }

    public HttpServerRequest request() {
        return request;
    }

    /** The request's id, in its answer, problems and log lines. */
    String id() {
        return id;
    }

    /** Sets whether its connection counts it. @return the value before */
    boolean setCounted(boolean now) {
        boolean before = isCounted;
        isCounted = now;
        return before;
    }

    /** Whether other requests share the connection, which must then stay open. */
    private boolean isOneOfMany() {
        return request.version() == HttpVersion.HTTP_2;
    }

    /** Counts the answer under a call. */
    void countAs(int routeIndex) {
        this.route = routeIndex;
    }

    void auditBy(Audit call) {
        this.audit = call;
    }

    /** Notes that the call's work begins. @param body null for none */
    void begins(@Nullable JsonObject body) {
        if (audit != null) {
            audit.begins(body);
        }
    }

    /** Sets the rate-limit headers. */
    public void tell(RateDecision decision) {
        this.rate = decision;
    }

    /**
     * Answers, after the audit row if one is required. Does nothing if the client is gone or has its answer. Ends an answer that
     * was begun.
     */
    public void send(Reply reply) {
        Future<Void> written = audit == null ? null : audit.tell(reply.status(), reply.problemType());
        if (written == null) {
            transmit(reply);
            return;
        }
        written.onComplete(done -> {
            if (done.failed()) {
                LOG.warn(
                        "{} {} is not in the audit log, request {}: {}",
                        request.method(),
                        request.path(),
                        id,
                        done.cause().toString());
            }
            transmit(done.succeeded() ? reply : UNWRITTEN);
        });
    }

    private void transmit(Reply unread) {
        Language language = unread.problem() == null
                ? Language.ENGLISH
                : Language.of(request.getHeader(HttpHeaders.ACCEPT_LANGUAGE));
        Reply reply = unread.in(language).of(id);
        HttpServerResponse response = request.response();
        if (response.ended() || response.closed()) {
            left();
            return;
        }
        if (!response.headWritten()) {
            head(response, reply);
            if (reply.problem() != null) {
                response.putHeader(HttpHeaders.CONTENT_LANGUAGE, language.tag());
            }
        }
        answered(reply.status(), reply.problemType());
        Buffer body = isHead() ? Buffer.buffer() : reply.body();
        writer.end(body).onComplete(done -> left());
    }

    private void answered(int status, @Nullable ProblemType problem) {
        long nanos = System.nanoTime() - begunNanos;
        metrics.answered(route, status, problem, nanos);
        if (ACCESS.isInfoEnabled()) {
            ACCESS.info(
                    "{} {} {} {} ms request {} trace {}",
                    request.method(),
                    request.path(),
                    status,
                    nanos / 1_000_000,
                    id,
                    RequestId.trace(request.getHeader("traceparent")));
        }
    }

    /** Begins a streamed answer, before its first piece; {@link #send} ends it. */
    void begin(Reply reply) {
        head(request.response().setChunked(true), reply);
    }

    private void head(HttpServerResponse response, Reply reply) {
        response.setStatusCode(reply.status());
        MultiMap headers = response.headers();
        headers.add(CONTENT_TYPE_OPTIONS, NOSNIFF);
        headers.add(RequestId.HEADER, id);
        if (!reply.contentType().isEmpty()) {
            headers.add(HttpHeaders.CONTENT_TYPE, reply.contentType());
        }
        if (rate.isLimited()) {
            headers.add(POLICY, rate.policy()).add(LIMIT, rate.state());
        }
        List<String> more = reply.headers();
        for (int i = 0; i < more.size(); i += 2) {
            if (more.get(i).equals(VARY)) {
                headers.add(VARY, more.get(i + 1)); // beside what CORS says
            } else {
                headers.set(more.get(i), more.get(i + 1));
            }
        }
        if (!headers.contains(HttpHeaders.CACHE_CONTROL)) {
            headers.add(HttpHeaders.CACHE_CONTROL, NO_STORE);
        }
        int length = reply.body().length();
        boolean isSaidHere = length > AnswerWriter.SLICE_BYTES || length > 0 && isHead();
        if (isSaidHere && reply.status() != 304) {
            headers.set(HttpHeaders.CONTENT_LENGTH, Integer.toString(length));
        }
    }

    boolean isHead() {
        return request.method().equals(HttpMethod.HEAD);
    }

    AnswerWriter writer() {
        return writer;
    }

    /** Answers with a problem, and with headers: name, value, name, value … */
    public void refuse(Problem problem, String... headers) {
        if (problem.retryAfterSeconds() > 0) {
            request.response().putHeader("Retry-After", Integer.toString(problem.retryAfterSeconds()));
        }
        send(Reply.problem(problem, headers));
    }

    /** Answers with a problem, reads a little more so that the client sees it, and closes. */
    void refuseAndClose(Problem problem) {
        if (isOneOfMany()) {
            refuse(problem);
        } else {
            refuse(problem, "Connection", "close");
        }
        if (request.isEnded()) {
            close(NO_ERROR);
            return;
        }
        long timer = vertx.setTimer(LINGER_MILLIS, late -> close(NO_ERROR));
        request.exceptionHandler(gone -> vertx.cancelTimer(timer));
        request.handler(ignored -> {});
        request.endHandler(end -> {
            vertx.cancelTimer(timer);
            close(NO_ERROR);
        });
        request.resume();
    }

    /** Closes the connection; over HTTP/2 only the stream. */
    private void close(long code) {
        var unused = isOneOfMany()
                ? request.response().reset(code)
                : request.connection().close();
    }

    /** The client no longer waits for the answer; over HTTP/2 its connection may stay open. */
    private void left() {
        connections.answered(request.connection(), this);
    }

    /**
     * Answers a failure: a refusal as its problem, anything else as 500 with one log line. If the status is already sent, closes
     * the connection instead.
     */
    void fail(Throwable failure) {
        HttpServerResponse response = request.response();
        boolean isBegun = response.headWritten() && !response.ended();
        if (isBegun && audit != null) {
            audit.tell(response.getStatusCode(), null);
        }
        if (failure instanceof HttpClosedException || response.ended() || (isBegun && response.closed())) {
            left();
            return;
        }
        @Nullable Problem problem = Problem.ofFailure(failure);
        if (problem == null) {
            FAULTS.failed(request.method() + " " + request.path() + " failed, request " + id, failure);
            problem = Problem.of(ProblemType.INTERNAL_ERROR);
        }
        if (isBegun) {
            answered(problem.type().status(), problem.type());
            connections.answered(request.connection(), this);
            close(STREAM_INTERNAL_ERROR);
        } else {
            refuse(problem);
        }
    }

    /**
     * Writes one answer no faster than its client reads, because every write is copied into direct memory at once. The write queue's
     * state is no guide: over HTTP/2 it fills only after the event loop has turned. Confined to the request's event loop.
     */
    static final class AnswerWriter {
        /** Written at once; a client has ten seconds to take it, which is 6.5 KB/s. */
        static final int SLICE_BYTES = 64 * 1024;

        /** HTTP/2's error code CANCEL (RFC 9113, 7). */
        private static final long CANCEL = 0x8;

        private final HttpServerRequest request;
        private final Connections connections;
        private boolean isReset;

        AnswerWriter(HttpServerRequest request, Connections connections) {
            this.request = request;
            this.connections = connections;
        }

        HttpServerRequest request() {
            return request;
        }

        /**
         * Writes a piece.
         *
         * @return completes when the client has taken it; fails if the client is gone or too slow
         */
        Future<Void> write(Buffer piece) {
            return write(piece, 0, false);
        }

        /** Writes the rest, and ends. @return as {@link #write(Buffer)} */
        Future<Void> end(Buffer rest) {
            return write(rest, 0, true);
        }

        private Future<Void> write(Buffer bytes, int from, boolean ends) {
            HttpServerResponse response = request.response();
            int next = from + SLICE_BYTES;
            if (next < bytes.length()) {
                return taken(response.write(bytes.slice(from, next))).compose(read -> write(bytes, next, ends));
            }
            Buffer last = from == 0 ? bytes : bytes.slice(from, bytes.length());
            return taken(ends ? response.end(last) : response.write(last));
        }

        private Future<Void> taken(Future<Void> write) {
            if (write.isComplete()) {
                return write;
            }
            connections.writes(this);
            return write.onComplete(done -> connections.wrote(this));
        }

        /** Aborts the answer of a client that does not read. Over HTTP/2 resets the stream; called again, closes the connection. */
        void giveUp() {
            LOG.debug("{} {} is not read", request.method(), request.path());
            if (request.version() == HttpVersion.HTTP_2 && !isReset) {
                isReset = true;
                var unused = request.response().reset(CANCEL);
            } else {
                Connections.cut(request.connection());
            }
        }
    }

    /**
     * Metrics of HTTP: answers and their durations, by call and status class. Counters are created in advance. One instance for all
     * verticles, thread-safe.
     */
    public static final class HttpMetrics {
        /** Status classes 1xx to 5xx. */
        private static final int CLASSES = 5;

        private static final int SERVER_ERROR = 500;

        private final MeterRegistry registry;
        private final List<String> routes;
        private final Counter[][] answers;
        private final AtomicReferenceArray<Timer> times;
        private final Map<ProblemType, Counter> faults = new EnumMap<>(ProblemType.class);
        private final AtomicInteger polls = new AtomicInteger();

        /** Counters for every call of the contract; documents and unknown paths count as {@code other}. */
        public static HttpMetrics of(MeterRegistry registry, Contract contract) {
            return new HttpMetrics(
                    registry, contract.operations().stream().map(Operation::id).toList());
        }

        private HttpMetrics(MeterRegistry registry, List<String> routes) {
            this.registry = registry;
            this.routes = routes;
            this.answers = new Counter[routes.size() + 1][CLASSES];
            this.times = new AtomicReferenceArray<>(answers.length);
            for (int route = 0; route <= routes.size(); route++) {
                String name = name(route);
                for (int i = 0; i < CLASSES; i++) {
                    answers[route][i] = Counter.builder("hongbao_http_requests")
                            .description("Answers by call and class of status")
                            .tag("route", name)
                            .tag("status", (i + 1) + "xx")
                            .register(registry);
                }
            }
            for (ProblemType type : ProblemType.values()) {
                if (type.status() >= SERVER_ERROR) {
                    faults.put(
                            type,
                            Counter.builder("hongbao.http.server.errors")
                                    .description("Answers with a status of 500 or more, by the type of the problem")
                                    .tag("type", type.wireName())
                                    .register(registry));
                }
            }
            Gauge.builder("hongbao_http_polls", polls, AtomicInteger::get)
                    .description("Polls of group feeds that wait for events")
                    .register(registry);
        }

        int other() {
            return answers.length - 1;
        }

        /** @param problem null if not refused @param nanos since the request was read */
        void answered(int route, int status, @Nullable ProblemType problem, long nanos) {
            answers[route][status / 100 - 1].increment();
            time(route).record(nanos, TimeUnit.NANOSECONDS);
            Counter fault = problem == null ? null : faults.get(problem);
            if (fault != null) {
                fault.increment();
            }
        }

        /** The call's histogram, created at its first use because there are many calls. Concurrent creation gives the same one. */
        private Timer time(int route) {
            Timer known = times.get(route);
            if (known != null) {
                return known;
            }
            Timer made = Timer.builder("hongbao.http.request")
                    .description(
                            "From the request's head to the answer, by call; a poll waits for events as long as it asked to")
                    .tag("route", name(route))
                    .register(registry);
            times.set(route, made);
            return made;
        }

        private String name(int route) {
            return route < routes.size() ? routes.get(route) : "other";
        }

        AtomicInteger polls() {
            return polls;
        }
    }
}
