package dev.hongbao.web.http;

import io.vertx.core.Future;
import io.vertx.core.http.HttpServerResponse;

/**
 * An answer of unknown length, written in pieces. It begins with the first piece, so that a failure before it is still answered
 * as a problem; a failure after it breaks the connection, since the status is out. Only on its loop.
 */
final class ReplyStream {
    private final Exchange exchange;
    private final String contentType;
    private boolean begun;

    ReplyStream(Exchange exchange, String contentType) {
        this.exchange = exchange;
        this.contentType = contentType;
    }

    /** Whether nothing is written yet. */
    boolean isEmpty() {
        return !begun;
    }

    /** Succeeds when the piece is on its way, which is as fast as the client reads; fails when the client is gone. */
    Future<Void> write(String piece) {
        HttpServerResponse response = exchange.request().response();
        if (response.closed()) {
            return Future.failedFuture("the client is gone");
        }
        if (!begun) {
            begun = true;
            exchange.beginStream(contentType);
        }
        return response.write(piece);
    }

    void end() {
        if (!begun) {
            exchange.beginStream(contentType);
        }
        exchange.endStream();
    }

    void fail(Throwable fault) {
        if (begun) {
            exchange.breakStream();
        } else if (!exchange.request().response().closed()) {
            exchange.fail(fault);
        }
    }
}
