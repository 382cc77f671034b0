package dev.hongbao.web.http;

import dev.hongbao.web.access.RateDecision;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.netty.util.AsciiString;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request and its one answer. Only on the request's loop. */
final class Exchange {
    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private static final CharSequence POLICY = AsciiString.cached("ratelimit-policy");
    private static final CharSequence LIMIT = AsciiString.cached("ratelimit");
    private static final CharSequence CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final CharSequence NOSNIFF = AsciiString.cached("nosniff");
    private static final CharSequence NO_STORE = AsciiString.cached("no-store");

    /** How long a refused body is still read and thrown away, so that the answer is not lost in a reset. */
    private static final long LINGER_MILLIS = 1_000;

    private static final int SLICE_BYTES = 64 * 1024;

    private final Vertx vertx;
    private final HttpServerRequest request;
    private final HttpMetrics metrics;
    private final Connections connections;
    private int route;
    private RateDecision rate = RateDecision.UNLIMITED;

    Exchange(Vertx vertx, HttpServerRequest request, HttpMetrics metrics, Connections connections) {
        this.vertx = vertx;
        this.request = request;
        this.metrics = metrics;
        this.connections = connections;
        this.route = metrics.other();
    }

    HttpServerRequest request() {
        return request;
    }

    /** Counts the answer under a call. */
    void countAs(int routeIndex) {
        this.route = routeIndex;
    }

    /** The limit that the answer tells. */
    void tell(RateDecision decision) {
        this.rate = decision;
    }

    /** Whether the request has no body at all, so that nothing needs to be read. */
    boolean hasNoBody() {
        MultiMap headers = request.headers();
        String length = headers.get(HttpHeaders.CONTENT_LENGTH);
        return (length == null || length.equals("0")) && !headers.contains(HttpHeaders.TRANSFER_ENCODING);
    }

    /** Answers; does nothing when the client is gone or was answered. */
    void send(Reply reply) {
        HttpServerResponse response = request.response();
        if (response.ended() || response.closed()) {
            connections.answered(request.connection());
            return;
        }
        response.setStatusCode(reply.status());
        MultiMap headers = response.headers();
        headers.add(CONTENT_TYPE_OPTIONS, NOSNIFF);
        if (!reply.contentType().isEmpty()) {
            headers.add(HttpHeaders.CONTENT_TYPE, reply.contentType());
        }
        if (rate.isLimited()) {
            headers.add(POLICY, rate.policy()).add(LIMIT, rate.state());
        }
        List<String> more = reply.headers();
        for (int i = 0; i < more.size(); i += 2) {
            headers.set(more.get(i), more.get(i + 1));
        }
        if (!headers.contains(HttpHeaders.CACHE_CONTROL)) {
            headers.add(HttpHeaders.CACHE_CONTROL, NO_STORE);
        }
        metrics.answered(route, reply.status());
        if (request.method().equals(HttpMethod.HEAD)) {
            headers.set(
                    HttpHeaders.CONTENT_LENGTH, Integer.toString(reply.body().length()));
            end(response, Buffer.buffer());
        } else if (reply.body().length() <= SLICE_BYTES) {
            end(response, reply.body());
        } else {
            headers.set(
                    HttpHeaders.CONTENT_LENGTH, Integer.toString(reply.body().length()));
            write(response, reply.body(), 0);
        }
    }

    private void end(HttpServerResponse response, Buffer last) {
        connections.answered(request.connection());
        var unused = response.end(last);
    }

    /** As fast as the client reads: all that is written is copied at once into memory outside of the heap. */
    private void write(HttpServerResponse response, Buffer body, int from) {
        int rest = from;
        while (body.length() - rest > SLICE_BYTES) {
            if (response.writeQueueFull()) {
                int next = rest;
                response.drainHandler(drained -> write(response, body, next));
                return;
            }
            var unused = response.write(body.slice(rest, rest + SLICE_BYTES));
            rest += SLICE_BYTES;
        }
        end(response, body.slice(rest, body.length()));
    }

    /** Begins an answer of unknown length; {@link #endStream} or {@link #breakStream} ends it. */
    void beginStream(String contentType) {
        HttpServerResponse response = request.response();
        response.setStatusCode(200).setChunked(true);
        response.headers()
                .add(CONTENT_TYPE_OPTIONS, NOSNIFF)
                .add(HttpHeaders.CONTENT_TYPE, contentType)
                .add(HttpHeaders.CACHE_CONTROL, NO_STORE);
    }

    void endStream() {
        metrics.answered(route, 200);
        connections.answered(request.connection());
        var unused = request.response().end();
    }

    /** The status is out and the rest will not come: only the end of the connection can tell. */
    void breakStream() {
        metrics.answered(route, 500);
        connections.answered(request.connection());
        close();
    }

    /** Answers with a problem, and with headers: name, value, name, value … */
    void refuse(Problem problem, String... headers) {
        if (problem.retryAfterSeconds() > 0) {
            request.response().putHeader("Retry-After", Integer.toString(problem.retryAfterSeconds()));
        }
        send(Reply.problem(problem, headers));
    }

    /** Answers with a problem, reads a little more so that the client sees it, and closes. */
    void refuseAndClose(Problem problem) {
        refuse(problem, "Connection", "close");
        if (request.isEnded()) {
            close();
            return;
        }
        long timer = vertx.setTimer(LINGER_MILLIS, late -> close());
        request.exceptionHandler(gone -> vertx.cancelTimer(timer));
        request.handler(ignored -> {});
        request.endHandler(end -> {
            vertx.cancelTimer(timer);
            close();
        });
        request.resume();
    }

    private void close() {
        var unused = request.connection().close();
    }

    /** Answers a failure: a refusal as its problem, anything else as 500 with one line for the operator. */
    void fail(Throwable failure) {
        @Nullable Problem problem = Problem.ofFailure(failure);
        if (problem == null) {
            LOG.error("{} {} failed", request.method(), request.path(), failure);
            problem = Problem.of(ProblemType.INTERNAL_ERROR);
        }
        refuse(problem);
    }
}
