package dev.hongbao.http;

import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The WebSocket as the HTTP face sees it. One instance per event loop; only on its loop. */
public interface SocketUpgrade {
    /** The WebSocket's path. */
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
