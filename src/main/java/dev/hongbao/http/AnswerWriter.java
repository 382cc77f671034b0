package dev.hongbao.http;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one answer no faster than its client reads, because every write is copied into direct memory at once. The write queue's
 * state is no guide: over HTTP/2 it fills only after the event loop has turned. Confined to the request's event loop.
 */
final class AnswerWriter {
    private static final Logger LOG = LoggerFactory.getLogger(AnswerWriter.class);

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
        return write(piece, 0);
    }

    private Future<Void> write(Buffer piece, int from) {
        HttpServerResponse response = request.response();
        int next = from + SLICE_BYTES;
        return next >= piece.length()
                ? taken(response.write(from == 0 ? piece : piece.slice(from, piece.length())))
                : taken(response.write(piece.slice(from, next))).compose(read -> write(piece, next));
    }

    /** Writes the rest, and ends. @return as {@link #write(Buffer)} */
    Future<Void> end(Buffer rest) {
        return end(rest, 0);
    }

    private Future<Void> end(Buffer rest, int from) {
        HttpServerResponse response = request.response();
        int next = from + SLICE_BYTES;
        return next >= rest.length()
                ? taken(response.end(from == 0 ? rest : rest.slice(from, rest.length())))
                : taken(response.write(rest.slice(from, next))).compose(read -> end(rest, next));
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
