package dev.hongbao.ws;

import dev.hongbao.testing.TestEngine;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import java.net.URI;

/** Vert.x' WebSocket client. */
final class VertxFrameClient extends FrameClient {
    static final Vertx VERTX = Vertx.vertx();
    private static final WebSocketClient CLIENT = VERTX.createWebSocketClient(
            new WebSocketClientOptions().setMaxConnections(100_000).setMaxFrameSize(1 << 20));

    private final WebSocket socket;

    private VertxFrameClient(WebSocket socket) {
        this.socket = socket;
    }

    static VertxFrameClient open(URI base) {
        return open(base, null);
    }

    /** @param origin as a browser would send it; null for none */
    static VertxFrameClient open(URI base, String origin) {
        WebSocketConnectOptions options = options(base).addSubProtocol("hongbao.v1");
        if (origin != null) {
            options.addHeader("Origin", origin);
        }
        return open(options);
    }

    static WebSocketConnectOptions options(URI base) {
        return new WebSocketConnectOptions()
                .setHost(base.getHost())
                .setPort(base.getPort())
                .setURI("/v1/socket");
    }

    static VertxFrameClient open(WebSocketConnectOptions options) {
        VertxFrameClient[] client = new VertxFrameClient[1];
        TestEngine.get(CLIENT.connect(options).map(socket -> {
            VertxFrameClient opened = new VertxFrameClient(socket);
            socket.textMessageHandler(opened::arrived);
            socket.closeHandler(
                    gone -> opened.closedWith(socket.closeStatusCode() == null ? 1006 : socket.closeStatusCode()));
            client[0] = opened;
            return socket;
        }));
        return client[0];
    }

    @Override
    void sendText(String text) {
        socket.writeTextMessage(text);
    }

    void sendBinary(Buffer bytes) {
        socket.writeBinaryMessage(bytes);
    }

    WebSocket socket() {
        return socket;
    }

    @Override
    void drop() {
        socket.close();
    }
}
